# SPDX-License-Identifier: LGPL-2.1-or-later
"""JSON laid out for people: what fits on a line is on one. Numbers stay as they are written, order too."""
import json

WIDTH = 118


class Number(str):
    """A number as it is written."""


def refuse(name):
    raise ValueError(f"{name} is no JSON")


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key stands twice: {keys}")
    return dict(pairs)


def parse(text):
    """Strictly: no NaN, no key twice."""
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=refuse, object_pairs_hook=unique)


def pieces(value):
    if isinstance(value, Number):
        yield value
    elif isinstance(value, (dict, list)):
        ends = "{}" if isinstance(value, dict) else "[]"
        before = ends[0]
        for item in value:
            yield before
            if isinstance(value, dict):
                yield f"{json.dumps(item)}: "
                item = value[item]
            yield from pieces(item)
            before = ", "
        yield ends[1] if value else ends
    else:
        yield json.dumps(value, ensure_ascii=False)


def flat(value, room):
    """On one line; None: it has not that much room."""
    text = []
    for piece in pieces(value):
        room -= len(piece)
        if room < 0:
            return None
        text.append(piece)
    return "".join(text)


def numbers(items, indent):
    """A long list of plain values, filled."""
    lines, line = [], ""
    for item in items:
        if line and indent + len(line) + 2 + len(item) > WIDTH:
            lines.append(line)
            line = ""
        line += (", " if line else "") + item
    return lines + [line]


def layout(value, indent=0, head=0):
    """head: columns taken before the value on its first line."""
    whole = flat(value, WIDTH - indent - head if isinstance(value, (dict, list)) and value else float("inf"))
    if whole is not None:
        return whole
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        lines = [f"{json.dumps(k)}: {layout(v, indent + 2, len(json.dumps(k)) + 2)}" for k, v in value.items()]
        ends = "{}"
    else:
        plain = not any(isinstance(item, (dict, list)) for item in value)
        if plain:
            lines = numbers([item if isinstance(item, Number) else json.dumps(item) for item in value], indent + 2)
        else:
            lines = [layout(item, indent + 2) for item in value]
        ends = "[]"
    return ends[0] + "\n" + ",\n".join(inner + line for line in lines) + "\n" + " " * indent + ends[1]
