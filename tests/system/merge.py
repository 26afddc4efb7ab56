#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Merges what several hosts left into one TAP stream.

usage: merge.py HOST=SHARE:BOOT_STATUS...

SHARE is a directory after tests/system/boot: results/NAME.{tap,err,status} of each suite named in plan, and
console.log. A suite that did not end well is a failure whatever its TAP says, and so is a word of alarm from Xen."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

ALARMS = re.compile(r"Assertion .* failed|\bASSERT|Xen (?:WARN|BUG)|\bWARN|[Ww]arning|Panic on CPU|FATAL|list corruption"
                    r"|NMI|[Ww]atchdog|Error |ERROR", re.ASCII)
EXPECTED = re.compile(r"WARNING: CONSOLE OUTPUT IS SYNCHRONOUS")


def alarms(console):
    """Xen's own lines that alarm; dom0's kernel writes to the same console, without the prefix."""
    with open(console, errors="replace") as file:
        return [line.rstrip() for line in file
                if line.startswith("(XEN)") and ALARMS.search(line) and not EXPECTED.search(line)]


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def suite(tap, host, results, name):
    text, count, plan = read(f"{results}/{name}.tap"), 0, None
    for line in text.splitlines():
        if match := re.match(r"(not )?ok \d+(?: - )?(.*)", line):
            count += 1
            title, _, skipped = match[2].partition(" # SKIP ")
            if skipped:
                tap.skip(f"{host}: {name}: {title}", skipped)
            else:
                tap.ok(not match[1], f"{host}: {name}: {title}")
        elif match := re.match(r"1\.\.(\d+)", line):
            plan = int(match[1])
        elif line.startswith("#"):
            tap.note(line[2:].rstrip())
    ended = read(f"{results}/{name}.status").strip()
    tap.ok(plan == count and count and ended in ("0", "1"), f"{host}: {name}: ran to its end",
           f"status {ended or 'none'}, {count} of {plan} results\n{read(f'{results}/{name}.err')[-3000:]}")


def main():
    tap = Tap()
    for argument in sys.argv[1:]:
        host, _, rest = argument.partition("=")
        share, _, boot = rest.rpartition(":")
        tap.equal(boot, "0", f"{host}: boots, runs the suites and ends")
        for line in read(f"{share}/plan").splitlines():
            suite(tap, host, f"{share}/results", line.split()[0])
        found = alarms(f"{share}/console.log")
        tap.ok(not found, f"{host}: no assertion, no warning in Xen's log", "\n".join(found[:20]))
    tap.done()


main()
