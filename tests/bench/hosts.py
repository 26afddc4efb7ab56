# SPDX-License-Identifier: LGPL-2.1-or-later
"""Xen hosts for the hypervisor's benchmarks: a script in dom0, on a machine whose clock counts instructions."""
import os
import subprocess
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# In dom0: wait until no node has dirty pages, which an allocation would have to scrub first.
CLEAN = """\
clean() {
    for _ in $(seq 600); do
        xl dmesg -c >/dev/null
        xl debug-keys H
        xl dmesg | grep -q 'unscrubbed pages' || return 0
        sleep 0.2
    done
    echo "still dirty"
    exit 1
}
"""


class Failed(Exception):
    pass


def _run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def hypervisor(variant):
    """The path of a hypervisor; builds it when it is not in the cache."""
    return _run([os.path.join(TOP, "hypervisor-patches", "build"), variant]).strip()


def _compile(directory):
    for source, library in (("tests/bench/instructions.c", "-lxenctrl"), ("tests/system/heapcall.c", "-lxencall")):
        name = os.path.basename(source)[:-2]
        _run(["cc", "-std=gnu11", "-O2", "-Wall", "-I", os.path.join(TOP, "proto"), "-o", os.path.join(directory, name),
              os.path.join(TOP, source), library])


def run(variant, shape, script, limit=3600):
    """What a dom0 script prints on a host of that shape (tests/system/boot --help), line by line."""
    with tempfile.TemporaryDirectory() as directory:
        share = os.path.join(directory, "share")
        path = os.path.join(directory, "script")
        os.mkdir(share)
        _compile(share)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nset -eu\n" + CLEAN + script)
        command = [os.path.join(TOP, "tests/system/boot"), "--xen", hypervisor(variant), "--shape", shape,
                   "--share", share, "--limit", str(limit), path]
        try:
            _run(command)
        except Failed as failure:
            with open(os.path.join(share, "output"), encoding="utf-8", errors="replace") as file:
                raise Failed(f"{failure}\n{file.read()[-2000:]}") from None
        with open(os.path.join(share, "output"), encoding="utf-8") as file:
            return file.read().splitlines()
