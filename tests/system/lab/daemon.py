#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""numad-xend as a service of a real dom0: start, stop, restart, death, storms, and who may ask."""
import concurrent.futures
import json
import os
import signal
import subprocess
import time

from host import NOBODY, bus, create, destroy, destroy_all, fresh_status, properties, run, status, wait_for
from tap import Tap

tap = Tap()
UNIT = "numad-xend.service"
CONFIG = "/etc/numad-xen/numad-xend.conf"


def unit(name):
    return run("systemctl", "show", "--value", "-p", name, UNIT).strip()


def pid():
    """The daemon's, or 0 (which os.kill() takes for everybody here)."""
    return int(unit("MainPID"))


def answers():
    """Whether a reader gets a status of this host within the client's own patience."""
    return subprocess.run(["numad-xen", "status", "--json"], capture_output=True).returncode == 0


def start():
    begin = time.monotonic()
    run("systemctl", "start", UNIT)
    tap.note(f"started in {time.monotonic() - begin:.1f} s")
    tap.equal(unit("Type"), "notify", "the unit says when it is ready")
    tap.equal(unit("ActiveState"), "active", "it is active when start returns")
    tap.ok(run("busctl", "status", "org.numadxen.NumadXen1"), "and has its bus name")
    tap.ok(answers(), "and answers at once")
    tap.ok(unit("WatchdogUSec") not in ("0", "infinity", ""), "it has a watchdog", unit("WatchdogUSec"))


def attributes():
    seen = properties()
    wanted = {"Backend": "xen", "Simulated": False, "Nodes": 4}
    tap.equal({name: seen.get(name) for name in wanted}, wanted, "properties")
    tap.equal(seen["Version"], run("numad-xen", "--version").split()[-1], "the daemon's version is the client's")
    tap.ok({"node-pages", "node-memory"} <= set(seen["Features"]), "features", seen["Features"])
    time.sleep(3)
    tap.ok(properties()["Generation"] > seen["Generation"], "generations go on")
    text = run("numad-xen", "doctor", status=None)
    tap.note(text)
    checks = json.loads(run("numad-xen", "doctor", "--json", status=None))["checks"]
    tap.ok(checks and all(check["ok"] for check in checks), "doctor finds nothing wrong", [c for c in checks if not c["ok"]])


def unprivileged():
    asked = subprocess.run([*NOBODY, "numad-xen", "status", "--json"], capture_output=True, text=True)
    tap.ok(asked.returncode == 0 and json.loads(asked.stdout)["format"] == "numad-xen-status/1", "anyone may read the status",
           asked.stderr)
    for method in ("GetTopology", "ListDomains"):
        asked = subprocess.run([*NOBODY, "busctl", "call", "org.numadxen.NumadXen1", "/org/numadxen/NumadXen1",
                                "org.numadxen.NumadXen1", method], capture_output=True, text=True)
        tap.ok(asked.returncode == 0, f"anyone may call {method}", asked.stderr)
    failed = subprocess.run([*NOBODY, "numad-xend"], capture_output=True, text=True, timeout=60)
    tap.equal(failed.returncode, 5, "the daemon without privilege: not permitted")
    tap.ok("root" in failed.stderr and "dom0" in failed.stderr, "and says what to do", failed.stderr)
    tap.note(failed.stderr)


def restart():
    before = pid()
    run("systemctl", "restart", UNIT)
    tap.ok(pid() != before and answers(), "restarted, it answers")
    run("systemctl", "reload", UNIT)
    tap.equal(unit("ActiveState"), "active", "reload leaves it active")
    begin = time.monotonic()
    run("systemctl", "stop", UNIT)
    tap.ok(time.monotonic() - begin < 8, "it stops soon", f"{time.monotonic() - begin:.1f} s")
    tap.equal((unit("Result"), unit("ExecMainStatus"), unit("NRestarts")), ("success", "0", "0"), "it stops cleanly")
    run("systemctl", "mask", "--runtime", UNIT)
    asked = subprocess.run(["numad-xen", "status"], capture_output=True, text=True)
    tap.equal(asked.returncode, 4, "no daemon: exit status 4")
    tap.ok("numad-xen:" in asked.stderr and not asked.stdout, "and a word on stderr", asked.stderr)
    run("systemctl", "unmask", "--runtime", UNIT)
    tap.ok(answers() and unit("ActiveState") == "active", "a question starts the daemon")


def available():
    return {row["node"]: row["memory"]["available"] for row in fresh_status()["nodes"]}


def settings():
    """The configuration file, read again by systemctl reload; a bad one is refused and changes nothing."""
    kept = None
    if os.path.exists(CONFIG):
        with open(CONFIG) as file:
            kept = file.read()
    before, unlimited = pid(), available()
    configure("[daemon]\ninterval_ms = 250\n[placement]\nheadroom = 256M\n")
    limited = available()
    tap.ok(all(abs(max(0, unlimited[node] - (256 << 20)) - limited[node]) < 16 << 20 for node in limited),
           "reload: headroom is kept from each node", f"{unlimited} {limited}")
    first, begin = properties()["Generation"], time.monotonic()
    wait_for("ten generations", lambda: properties()["Generation"] >= first + 10, 60)
    tap.ok(time.monotonic() - begin < 8, "reload: the interval is the file's", f"{time.monotonic() - begin:.1f} s")
    configure("[placement]\nheadroom = lots\n")
    tap.ok(all(abs(now - limited[node]) < 16 << 20 for node, now in available().items()), "a bad file: the settings stay")
    log = run("journalctl", "-b", "-q", "-p", "err", "-n", "5", "_COMM=numad-xend", "--no-pager")
    tap.ok(CONFIG in log and "headroom" in log, "and the log says where it is bad", log)
    tap.note(log)
    tap.equal((pid(), unit("ActiveState")), (before, "active"), "and the daemon goes on")
    configure(kept)
    tap.ok(all(abs(now - unlimited[node]) < 16 << 20 for node, now in available().items()), "reload: the defaults are back")


def configure(text):
    os.makedirs(os.path.dirname(CONFIG), exist_ok=True)
    if text is None:
        os.unlink(CONFIG)
    else:
        with open(CONFIG, "w") as file:
            file.write(text)
    run("systemctl", "reload", UNIT)


def death():
    before = pid()
    assert before, "the daemon runs"
    os.kill(before, signal.SIGKILL)
    wait_for("the service is back", lambda: unit("ActiveState") == "active" and pid() not in (0, before), 60)
    tap.ok(answers(), "killed, it comes back and answers")


def hung():
    """A daemon that hangs is found by the watchdog."""
    before = pid()
    assert before, "the daemon runs"
    os.kill(before, signal.SIGSTOP)
    wait_for("another process", lambda: pid() not in (0, before) and unit("ActiveState") == "active", 120, 1)
    tap.ok(answers(), "stuck, the watchdog ends it and a new one answers")


def storm():
    """Domains come and go, names are written, and readers ask all the time."""
    before, wrong = pid(), []

    def cycle(number):
        for turn in range(2):
            create(f"storm{number}-{turn}", 32, node=number)
            destroy(f"storm{number}-{turn}")

    def scribble():
        for turn in range(100):
            run("xenstore-write", f"/local/domain/0/numad-xen-test/{turn % 7}", str(turn))
        run("xenstore-rm", "/local/domain/0/numad-xen-test")

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        work = [pool.submit(cycle, number) for number in range(3)] + [pool.submit(scribble)]
        while not all(job.done() for job in work):
            try:
                document = status()
                if not any(d["domid"] == 0 for d in document["domains"]):
                    wrong.append("no dom0")
            except Exception as failure:
                wrong.append(repr(failure))
        for job in work:
            job.result()
    tap.ok(not wrong, "every status during a storm of domain events is right", wrong[:5])
    tap.equal(pid(), before, "the daemon is the same")
    wait_for("all are forgotten", lambda: len(status()["domains"]) == 1, 15)
    tap.ok(True, "and forgets them all")


def rename():
    domid = create("before", 24)
    wait_for("the name", lambda: any(d["name"] == "before" for d in status()["domains"]), 15)
    run("xl", "rename", "before", "after")
    wait_for("the new name", lambda: any(d["name"] == "after" and d["domid"] == domid for d in status()["domains"]), 25)
    tap.ok(True, "a renamed domain gets its name in time")
    destroy(domid)


def figures():
    with open(f"/proc/{pid()}/status") as file:
        kib = int(next(line.split()[1] for line in file if line.startswith("VmRSS")))
    tap.ok(kib < 16 * 1024, f"resident memory {kib} KiB is under 16 MiB")

    def ticks():
        with open(f"/proc/{pid()}/stat") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    begin = ticks()
    time.sleep(10)
    tap.note(f"CPU of the daemon: {(ticks() - begin) / 10:.2f} % of one (emulated) CPU")
    collections = status()["stats"]["collection_seconds"]
    tap.note(f"collections: {collections['count']}, mean {1000 * collections['sum'] / max(1, collections['count']):.2f} ms")


def main():
    start()
    for step in (attributes, unprivileged, restart, settings, rename, storm, figures, death, hung):
        try:
            step()
        except Exception as failure:
            tap.ok(False, f"{step.__name__} runs to its end", repr(failure))
    errors = [line for line in run("journalctl", "-b", "-q", "-p", "err", "_COMM=numad-xend", "--no-pager").splitlines()
              if CONFIG not in line]
    tap.ok(not errors, "the daemon logged no error but of the bad file", errors)
    tap.ok(bus("ListDomains"), "the bus answers at the end")
    destroy_all()
    tap.done()


main()
