#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random calls of the hypercall from dom0 while domains come and go: errors as documented, never a crash.

usage: hostile.py COUNT"""
import subprocess
import sys
import threading

from host import TOOLS, create, destroy, destroy_all, live, raw, walk
from tap import Tap


def restless(stop):
    """Domains under construction, alive and dying, for the calls to meet."""
    turn = 0
    while not stop.is_set():
        create(f"restless{turn}", 40, node=turn % 4)
        destroy(f"restless{turn}")
        turn += 1


def main():
    tap, count = Tap(), int(sys.argv[1])
    create("witness", 64, node=2)
    stop = threading.Event()
    other = threading.Thread(target=restless, args=(stop,))
    other.start()
    for seed in (1, 2):
        done = subprocess.run([TOOLS + "heapcall", "hostile", str(count // 2), str(seed)], capture_output=True, text=True)
        tap.ok(done.returncode == 0, f"{count // 2} random calls, seed {seed}", done.stdout + done.stderr)
        tap.note(done.stdout)
    stop.set()
    other.join()
    tap.ok(len(live()) >= 2, "the host is alive")
    walked, counted = walk(), raw()
    tap.equal({d: row["nodes"] for d, row in counted.items()}, {d: row["nodes"] for d, row in walked.items()},
              "and its counts are exact")
    destroy_all()
    tap.done()


main()
