#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds documents against the schemas in proto/.

    faults(document)      what is wrong with it, a text each; the document's `format` names its schema
    check(text)           returns the document in a text, or raises AssertionError with its faults; large ones, which
                          take seconds, are not looked at
    AVAILABLE             whether the module jsonschema is there; without it check() checks nothing

As a program: schema.py FILE...   prints the faults of each file; exits 1 when there are any, 2 without jsonschema.
"""
import json
import os
import pathlib
import re
import sys

try:
    import jsonschema
    AVAILABLE = True
except ImportError:
    AVAILABLE = False

SCHEMAS = pathlib.Path(os.environ.get("NX_SCHEMAS") or pathlib.Path(__file__).resolve().parents[1] / "proto")
LARGE = 256 << 10  # characters of JSON
MAX_FAULTS = 10

_validators = {}


def is_canonical(text):
    """Whether a set is written as the project writes it: ascending, neighbours as a range."""
    last = -2
    for part in text.split(",") if text else []:
        if not re.fullmatch(r"[0-9]+(-[0-9]+)?", part):
            return False
        low, high = (int(n) for n in (part.split("-") * 2)[:2])
        if low <= last + 1 or high < low or ("-" in part and high == low):
            return False
        last = high
    return True


def schema_path(name):
    """Of a format like numad-xen-status/1; None when it is none of ours."""
    if not isinstance(name, str) or not re.fullmatch(r"numad-xen-[a-z]+/[0-9]+", name):
        return None
    path = SCHEMAS / f"{name.replace('/', '-')}.schema.json"
    return path if path.exists() else None


def validator(name):
    if name not in _validators:
        schema = json.loads(schema_path(name).read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        formats = jsonschema.FormatChecker(formats=())
        formats.checks("numad-xen-set")(lambda value: not isinstance(value, str) or is_canonical(value))
        _validators[name] = jsonschema.Draft202012Validator(schema, format_checker=formats)
    return _validators[name]


def faults(document):
    name = document.get("format") if isinstance(document, dict) else None
    if not schema_path(name):
        return [f"format: {name!r} has no schema"]
    found = []
    for error in validator(name).iter_errors(document):
        path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".")
        found.append(f"{path or name}: {error.message[:300]}")
        if len(found) == MAX_FAULTS:
            break
    return found


def check(text):
    """The document in a text."""
    document = json.loads(text)
    found = faults(document) if AVAILABLE and len(text) <= LARGE else []
    assert not found, "\n".join(found)
    return document


def load():
    """Reads all schemas: for whoever later becomes a user that may not."""
    for path in SCHEMAS.glob("*.schema.json") if AVAILABLE else ():
        validator(re.sub(r"-([0-9]+)$", r"/\1", path.name.split(".")[0]))


def main():
    if not AVAILABLE:
        print("schema.py: the Python module jsonschema is missing", file=sys.stderr)
        sys.exit(2)
    bad = False
    for path in sys.argv[1:]:
        try:
            found = faults(json.loads(pathlib.Path(path).read_text(encoding="utf-8", errors="replace")))
        except (OSError, ValueError) as error:
            found = [str(error)]
        for fault in found:
            print(f"{path}: {fault}")
        bad |= bool(found)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
