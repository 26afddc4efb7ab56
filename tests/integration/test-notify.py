#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the service manager hears: the protocol of Type=notify, the watchdog, reloading."""
from world import *  # noqa: F403


def test_ready(tap, world):
    notify = Notify(world.directory / "notify")
    daemon = world.start("--host", world.host(four_nodes()), environment=notify.environment())
    if not tap.ok(notify.wait("READY=1"), "READY=1 comes", daemon.log()):
        return
    with world.connect() as bus:  # at once: whoever waited for READY may ask
        tap.ok(world.owned(), "the name is owned then")
        tap.ok(status(bus)["generation"] >= 1, "and there is a snapshot")
    tap.ok(any("STATUS=simulated host: 4 nodes, 3 domains" in m for m in notify.messages), "STATUS= tells the host",
           notify.messages)
    tap.ok(not any("STOPPING=1" in m for m in notify.messages), "nothing of stopping yet")
    daemon.signal(signal.SIGTERM)
    tap.ok(notify.wait("STOPPING=1"), "STOPPING=1 comes with SIGTERM")
    tap.equal(daemon.wait(), 0, "and it ends with 0")
    tap.equal(sum("READY=1" in m for m in notify.messages), 1, "READY=1 came once")


def test_not_ready(tap, world):
    """A start that fails never says that it is ready."""
    notify = Notify(world.directory / "notify")
    world.daemon(world.host(four_nodes()))
    second = world.start("--host", world.host(four_nodes()), environment=notify.environment())
    tap.equal(second.wait(), 1, "a second daemon ends")
    tap.ok(not any("READY=1" in m for m in notify.take(0.2)), "and was never ready", notify.messages)


def test_status_follows(tap, world):
    notify = Notify(world.directory / "notify")
    host = four_nodes()
    daemon = world.start("--host", world.host(host), environment=notify.environment())
    notify.wait("READY=1")
    host["domains"].pop()
    world.host(host)
    daemon.signal(signal.SIGHUP)
    tap.ok(notify.wait("STATUS=simulated host: 4 nodes, 2 domains"), "STATUS= follows the host", notify.messages)
    before = len(notify.messages)
    time.sleep(2.5)
    tap.equal(notify.take(0.1)[before:], [], "and is not repeated")


def test_reload(tap, world):
    notify = Notify(world.directory / "notify")
    daemon = world.start("--host", world.host(four_nodes()), environment=notify.environment())
    notify.wait("READY=1")
    for what, text in ("a good file", json.dumps(four_nodes())), ("a bad file", "{"):
        notify.messages.clear()
        world.host(text)
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        daemon.signal(signal.SIGHUP)
        if not tap.ok(notify.wait("READY=1"), f"{what}: READY=1 ends the reload", notify.messages):
            continue
        lines = "\n".join(notify.messages).split("\n")
        tap.ok("RELOADING=1" in lines and lines.index("RELOADING=1") < lines.index("READY=1"),
               f"{what}: RELOADING=1 begins it", lines)
        stamp = [int(line.split("=")[1]) for line in lines if line.startswith("MONOTONIC_USEC=")]
        tap.ok(len(stamp) == 1 and before <= stamp[0] <= before + PATIENCE * 1e6, f"{what}: with its time", lines)


def test_watchdog(tap, world):
    notify = Notify(world.directory / "notify")
    daemon = world.start("--host", world.host(four_nodes()), environment=notify.environment(WATCHDOG_USEC="500000"))
    notify.wait("READY=1")
    count = lambda: sum("WATCHDOG=1" in m for m in notify.take(0.1))
    tap.ok(wait_for(lambda: count() >= 4), "the watchdog is fed")
    daemon.signal(signal.SIGSTOP)
    time.sleep(0.3)
    before = count()
    time.sleep(1.5)
    tap.equal(count(), before, "but not by a daemon that does not run")


def test_no_manager(tap, world):
    daemon = world.daemon(world.host(four_nodes()), environment={"NOTIFY_SOCKET": "/nonexistent/socket"})
    with world.connect() as bus:
        tap.equal(len(status(bus)["domains"]), 3, "a manager that is gone does not matter")
    tap.ok("ready" in daemon.log(), "messages are readable on stderr", daemon.log())


def test_journal(tap, world):
    """With the journal behind stderr, messages go there with their fields; a mount makes a socket of ours its."""
    run = world.directory / "run"
    (run / "systemd/journal").mkdir(parents=True)
    namespace = ["unshare", "--mount", "sh", "-c", f'mount --bind "{run}" /run && exec "$@"', "sh"]
    if os.geteuid() != 0 or subprocess.run([*namespace, "true"], capture_output=True).returncode != 0:
        tap.skip("messages go to the journal", "needs a mount namespace")
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
        journal.bind(str(run / "systemd/journal/socket"))
        journal.settimeout(PATIENCE)
        host = four_nodes(features=[])
        host["nodes"][0]["distances"][1] = 5  # invalid: a warning
        stream = 'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$@"'
        command = [*namespace, "sh", "-c", stream, "sh", world.program(), "--bus", world.address, "--host"]
        daemon = world.start_process([*command, str(world.host(host))], "daemon")
        entries = []
        while not any("ready" in entry.get("MESSAGE", "") for entry in entries):
            text = journal.recv(65536).decode()
            entries.append(dict(line.split("=", 1) for line in text.splitlines() if "=" in line))
        tap.equal(daemon.log(), "", "nothing on stderr then")
        ready, = (entry for entry in entries if "ready" in entry["MESSAGE"])
        tap.ok(ready["PRIORITY"] == "6" and ready["CODE_FILE"].endswith("manager.c") and int(ready["CODE_LINE"]) > 0 and
               ready["CODE_FUNC"] == "on_owned", "an entry has priority and place", ready)
        warnings = {entry.get("NUMAD_XEN_WARNING"): entry["PRIORITY"] for entry in entries if "NUMAD_XEN_WARNING" in entry}
        tap.equal(warnings.get("slit-invalid"), "4", "a warning about the host has its code as a field")


run_tests(test_ready, test_not_ready, test_status_follows, test_reload, test_watchdog, test_no_manager,
          test_journal)
