#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A 32-bit PV guest calls XENMEM_numa_heap: its call arrives, and is refused because it is a guest's. In dom0.

usage: compat32.py"""
import re
import tempfile

from host import TOOLS, run, wait_for
from tap import Tap

# Negative errno: EPERM, ENOSYS, EOPNOTSUPP, EFAULT, EINVAL.
WANTED = {"numa_heap": -1, "other": -38, "version": -95, "fault": -14, "command": -22}


def said():
    """What the guest printed on Xen's console."""
    line = re.search(r"compat32:((?: \w+ -?\d+)+)$", run("xl", "dmesg"), re.MULTILINE)
    return {name: int(rc) for name, rc in re.findall(r"(\w+) (-?\d+)", line[1])} if line else None


def main():
    tap = Tap()
    run("xl", "dmesg", "-c")
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write(f'name="compat32"\nkernel="{TOOLS}compat32"\nmemory=16\nvcpus=1\n'
                   'on_poweroff="destroy"\non_crash="destroy"\n')
        file.flush()
        run("xl", "create", "-q", file.name)
    results = wait_for("the guest's results", said, 60)
    for name, rc in WANTED.items():
        tap.equal(results.get(name), rc, f"a 32-bit guest's call, {name}, gives {rc}")
    tap.done()


main()
