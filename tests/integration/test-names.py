#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Domains may be called anything: every output stays what it is, JSON, D-Bus strings, one line a domain."""
import random
import unicodedata

from world import *  # noqa: F403

NUMAD_XEN = str(os.environ.get("NUMAD_XEN") or BUILD / "numad-xen")
SEED = 20260728
NAMES = [
    b"", b"twice", b"twice", b"twice", b"n" * 200, b" ", b"  lead", b"trail  ", b"two words", b"-", b"?", b"null", b"0",
    b"13\" lap", b"'single'", b"back\\slash", b"a\\nb", b"comma, tab\tand\x0bvertical", b"two\nlines", b"cr\rlf\r\n",
    b"\x1b[31mred\x1b[0m", b"\x1b]0;title\x07", b"bell\x07\x08\x7f", b"\xc2\x9b31mc1", b"%s%n", b"$(id)",
    b"<b>&amp;</b>",
    "Käse \N{PENGUIN}".encode(), "e\u0301\u0323".encode(), "\u202egnp.exe".encode(), "\u200b".encode(),
    "\ufeffbom".encode(), "\uffff\ufdd0".encode(), "\u2028line".encode(), "日本語の名前".encode(),
    b"\xff", b"\xfe\xff", b"cut \xe2\x82", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80",
    b"ok\x80\x80ok", b"\xe2\x28\xa1", "é".encode() * 100, b"\xf0\x9f" * 100, b"A\xcc" * 100,
]


def random_names(n):
    """Bytes of any kind, more often such as begin or end something."""
    chooser = random.Random(SEED)
    likely = b"\x01\t\n\r\x1b\"\\/'%\x7f\x80\xbf\xc2\xe2\xed\xf0\xf4\xff aZ0-"
    return [bytes(chooser.choice(likely) if chooser.random() < 0.6 else chooser.randrange(1, 256)
                  for _ in range(chooser.randrange(1, 40))) for _ in range(n)]


def json_string(name):
    """As bytes, so that it may be no UTF-8."""
    out = b"".join(b"\\u%04x" % c if c < 0x20 or c in b'"\\' else bytes([c]) for c in name)
    return b'"' + out + b'"'


def description(names):
    domains = b",".join(b'{"domid":%d,"name":%s,"type":"pvh","state":"running","total_pages":256,"max_pages":256,'
                        b'"node_pages":[0,256],"vcpus":[{"hard":"0-1","soft":"0-1","cpu":1}]}' % (i, json_string(name))
                        for i, name in enumerate(names))
    return (b'{"format":"numad-xen-host/1","features":["node-pages"],"nodes":[{"size":1073741824,"free":1048576,'
            b'"cpus":"0"},{"size":1073741824,"free":1048576,"cpus":"1"}],"domains":[%s]}' % domains)


def valid(name):
    """As text; None when it is no UTF-8, or has what sd-bus takes for none."""
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return None
    return None if any(0xfdd0 <= ord(c) <= 0xfdef or ord(c) & 0xfffe == 0xfffe for c in text) else text


def cli(world, *arguments):
    """Standard output as bytes."""
    return subprocess.run([NUMAD_XEN, "--bus", world.address, *arguments], capture_output=True, timeout=60,
                          check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout


def table_faults(output, n):
    """What is wrong with a table of n domains, whose last part has a line for each, by domid."""
    text = output.decode()  # or it is no UTF-8
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("DOMID")), None)
    rows = [line for line in lines[first + 1:] if line and not line.startswith("total")] if first is not None else []
    bad = sorted({f"U+{ord(c):04X}" for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")})
    faults = [f"characters {bad}"] if bad else []
    if text.count("\n") != len(lines):
        faults.append(f"{text.count(chr(10))} newlines, {len(lines)} lines")
    if [row.split()[:1] for row in rows] != [[str(i)] for i in range(n)]:
        faults.append(f"rows are {rows}")
    return faults


def check_names(tap, world, names, what):
    path = world.directory / f"{what}.json"
    path.write_bytes(description(names))
    daemon = world.daemon(path)
    with world.connect() as bus:
        wait_for_generation(bus, 0)
        listed = call(bus, "ListDomains")[0]  # a string that is no UTF-8 would have ended the connection
        document = status(bus)
        gathered = json.loads(call(bus, "Gather")[0])
    shown = [domain["name"] for domain in document["domains"]]
    tap.equal([row[0] for row in listed], list(range(len(names))), f"{what}: ListDomains has every domain")
    tap.equal([row[1] for row in listed], shown, f"{what}: D-Bus and JSON have the same names")
    wrong = [(name, got) for name, got in zip(names, shown) if valid(name) is not None and got != valid(name)]
    tap.equal(wrong, [], f"{what}: names that are UTF-8 are as they were")
    kept = [(name, got) for name, got in zip(names, shown) if valid(name) is None and "\ufffd" not in got]
    tap.equal(kept, [], f"{what}: in the others what is broken is replaced")
    tap.equal([domain.get("name") for domain in gathered["domains"]], shown, f"{what}: so has a capture")
    for command in ("status", "numastat"):
        tap.equal(table_faults(cli(world, command), len(names)), [], f"{what}: {command} has a line a domain")
    tap.equal([domain["name"] for domain in json.loads(cli(world, "status", "--json"))["domains"]], shown,
              f"{what}: status --json")
    daemon.end()


def test_awkward(tap, world):
    check_names(tap, world, NAMES, "awkward")


def test_random(tap, world):
    check_names(tap, world, random_names(300), "random")


run_tests(test_awkward, test_random)
