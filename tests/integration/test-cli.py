#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""numad-xen with a daemon: what it shows, how it ends, what it does when the daemon comes and goes."""
import pty
import re
import select

from world import *  # noqa: F403
from fakedaemon import FakeDaemon, Refusal

NUMAD_XEN = str(os.environ.get("NUMAD_XEN") or BUILD / "numad-xen")
DBUS = "org.freedesktop.DBus.Error."


def cli(*arguments, **environment):
    return subprocess.run([NUMAD_XEN, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})


def test_same_text(tap, world):
    """From the daemon or from its file: it is the same host."""
    for name in ("four-nodes", "stock", "hole", "names", "pools"):
        host = SOURCE / "tests/golden/hosts" / f"{name}.json"
        daemon = world.daemon(world.host(host.read_text(encoding="utf-8")))
        for command in (("status",), ("topology",), ("topology", "--json"), ("topology", "--hwloc"),
                        ("numastat",), ("numastat", "--pages")):
            asked, read = cli("--bus", world.address, *command), cli("--host", host, *command)
            tap.ok((asked.returncode, asked.stdout) == (read.returncode, read.stdout) and (asked.stdout or asked.stderr),
                   f"{name}: {' '.join(command)}: daemon and file say the same", asked.stdout + asked.stderr)
            if name == "stock" and "--pages" in command:
                tap.equal(asked.returncode, 1, "what the hypervisor does not tell is Unsupported")
        document = schema.check(cli("--bus", world.address, "status", "--json").stdout)
        tap.ok(document["generation"] >= 1 and document["time"], f"{name}: status --json is the daemon's document")
        daemon.signal(signal.SIGTERM)
        daemon.wait()


def test_exit_statuses(tap, world):
    bus = ("--bus", world.address)
    for command in (("status",), ("status", "--json"), ("status", "--watch"), ("topology",), ("topology", "--hwloc"),
                    ("numastat",)):
        out = cli(*command, *bus)
        tap.ok(out.returncode == 4 and not out.stdout and "is not running" in out.stderr,
               f"{' '.join(command)}: no daemon is 4", out)
        out = cli(*command, "--bus", "garbage")
        tap.ok(out.returncode == 4 and out.stderr == "numad-xen: 'garbage' is not a D-Bus address: give one like "
               "unix:path=/run/dbus/system_bus_socket\n", f"{' '.join(command)}: no address is 4", out)
        out = cli(*command, "--bus", f"unix:path={world.directory}/nothing")
        tap.ok(out.returncode == 4 and not out.stdout and "cannot reach" in out.stderr,
               f"{' '.join(command)}: no bus is 4", out)
    for answer, status in ((Refusal(DBUS + "AccessDenied", "no"), 5), (Refusal(DBUS + "NoReply", "gone"), 4),
                           (Refusal(NAME + ".Error.LimitReached", "too many"), 1), (None, 4),
                           (("s", ["not JSON"]), 1), (("s", ["{}"]), 1), (("s", ['{"format": "numad-xen-status/1"']), 1),
                           (("u", [7]), 1)):
        with FakeDaemon(world.address, {"GetStatus": answer, "GetTopology": answer}):
            start = time.monotonic()
            out = cli("status", *bus)
            what = answer.name if isinstance(answer, Refusal) else answer
            tap.ok(out.returncode == status and not out.stdout and re.fullmatch("numad-xen: .+: .+\n", out.stderr),
                   f"status: {what} is {status}", out)
            tap.ok(time.monotonic() - start < 15, f"status: {what}: no long wait")


def test_no_output(tap, world):
    """A closed stdout is not taken for the connection to the bus."""
    world.daemon(world.host(four_nodes()))
    out = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", NUMAD_XEN, "status", "--bus", world.address],
                         stderr=subprocess.PIPE, text=True, timeout=60)
    tap.ok(out.returncode == 1 and out.stderr == "numad-xen: stdout: Bad file descriptor\n", "no stdout is 1", out)
    out = subprocess.run(["sh", "-c", 'exec "$@" 2>&- <&-', "sh", NUMAD_XEN, "status", "--bus", world.address],
                         stdout=subprocess.PIPE, text=True, timeout=60)
    tap.ok(out.returncode == 0 and "Domain-0" in out.stdout, "no stdin and no stderr do not matter", out)


def test_hostile(tap, world):
    """Documents that no daemon writes are shown without harm."""
    evil = {"format": "numad-xen-status/1", "host": [], "nodes": [{"node": 0, "cpus": "0-99999999", "distances": {}}, 7,
            {"node": 5, "memory": {"span": -1, "free": 1e99}}], "domains": [{"domid": 1, "name": "\x1b[2J\n" + "x" * 9999,
            "memory": {"total": 2**63, "nodes": [{"node": 4000000000}]}, "vcpu_affinity": [None, {"online": True}]}],
            "reservations": "many", "stats": None}
    topology = {"format": "numad-xen-topology/1", "cpus": [[]], "pools": [{"pool": "x"}], "nodes": None}
    with FakeDaemon(world.address, {"GetStatus": ("s", [json.dumps(evil)]), "GetTopology": ("s", [json.dumps(topology)])}):
        for command in (("status",), ("topology",), ("numastat",)):
            out = cli(*command, "--bus", world.address)
            tap.ok(out.returncode == 0 and "\x1b" not in out.stdout and max(map(len, out.stdout.split("\n"))) <= 80,
                   f"{' '.join(command)}: evil is shown as text", out)
    for arguments, said in (((b"a\33[1m\nb\xe9",), "a\\x1b[1m\\nb\ufffd: no such command: see numad-xen --help"),
                            ((b"--a\33\n",), "--a\\x1b\\n: no such option"),
                            ((b"--a\33=\33", b"status"), "--a\\x1b=\\x1b: no such option"),
                            ((b"-\xe9", b"status"), "-\ufffd: no such option"),
                            ((b"status", b"a\33"), "status: a\\x1b: takes no such argument"),
                            ((b"status", b"-H", b"a\33"), "-H: 'a\\x1b': "),
                            ((b"status", b"--host", b"\n"), "\\n: No such file or directory"),
                            ((b"status", b"--bus", b"\33\n"), ""),
                            ((b"gather", b"a", b"\33\n"), "gather: '\\x1b\\n': one folder is enough"),
                            ((b"gather", b"\33/\n", b"--host", b"../"), ""),
                            ((b"numastat", b"-d", b"\33\n", b"--host", world.host(four_nodes())), "numastat: \\x1b\\n: ")):
        out = subprocess.run([NUMAD_XEN, *arguments], capture_output=True, timeout=60)
        text = out.stderr.decode()
        tap.ok(out.returncode and text.startswith(f"numad-xen: {said}") and "\33" not in text and
               text.replace("Try 'numad-xen", "").count("\n") == 1 + ("\nTry 'numad-xen" in text),
               f"{arguments}: what a message repeats is escaped", out)


class Lines:
    """A child whose two outputs are read as they come."""

    def __init__(self, *arguments):
        self.child = subprocess.Popen([NUMAD_XEN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.text = {self.child.stdout: b"", self.child.stderr: b""}

    def wait(self, condition, patience=PATIENCE):
        deadline = time.monotonic() + patience
        while not condition(*self.texts()) and time.monotonic() < deadline:
            for stream in select.select(list(self.text), [], [], 0.1)[0]:
                self.text[stream] += os.read(stream.fileno(), 65536)
        return condition(*self.texts())

    def texts(self):
        return [t.decode() for t in self.text.values()]


def test_watch(tap, world):
    host = world.host(four_nodes())
    daemon = world.daemon(host)
    watch = Lines("status", "--watch", "--bus", world.address)
    tap.ok(watch.wait(lambda out, _: out.count("Domain-0") >= 2), "--watch shows block after block", watch.texts())
    daemon.signal(signal.SIGTERM)
    tap.ok(watch.wait(lambda _, err: "waiting for it" in err), "--watch says that the daemon is gone", watch.texts())
    time.sleep(2.5)
    tap.equal(watch.texts()[1].count("waiting"), 1, "--watch says so once")
    tap.equal(watch.child.poll(), None, "--watch goes on without a daemon")
    blocks = watch.texts()[0].count("Domain-0")
    world.daemon(host)
    tap.ok(watch.wait(lambda out, err: "is back" in err and out.count("Domain-0") > blocks),
           "--watch says that the daemon is back, and goes on", watch.texts())
    watch.child.send_signal(signal.SIGINT)
    tap.equal(watch.child.wait(PATIENCE), 0, "--watch ends with 0 on SIGINT")


def test_watch_terminal(tap, world):
    host = world.host(four_nodes())
    daemon = world.daemon(host)
    ours, theirs = pty.openpty()
    child = subprocess.Popen([NUMAD_XEN, "status", "--watch", "--bus", world.address], stdin=theirs, stdout=theirs,
                             env={**os.environ, "TERM": "xterm"}, start_new_session=True)
    text = bytearray()

    def shows(what):
        def look():
            if select.select([ours], [], [], 0)[0]:
                text.extend(os.read(ours, 65536))
            return what in text
        return wait_for(look)

    tap.ok(shows(b"Domain-0"), "--watch on a terminal shows the host", bytes(text))
    daemon.signal(signal.SIGTERM)
    tap.ok(shows(b"Waiting for it to come back"), "--watch on a terminal says that the daemon is gone", bytes(text))
    text.clear()
    world.daemon(host)
    tap.ok(shows(b"Domain-0"), "--watch on a terminal shows the host again", bytes(text))
    # A signal in the midst of a call is no failure of it.
    world.processes[-1].signal(signal.SIGSTOP)
    time.sleep(1.5)
    text.clear()
    child.send_signal(signal.SIGWINCH)
    time.sleep(0.5)
    world.processes[-1].signal(signal.SIGCONT)
    tap.ok(shows(b"Domain-0") and b"Waiting" not in text, "--watch goes on when a call is interrupted", bytes(text))
    # In the midst of a call that nobody answers, too.
    world.processes[-1].signal(signal.SIGSTOP)
    time.sleep(1.5)
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    tap.equal(child.wait(PATIENCE), 0, "--watch ends with 0 while a call waits")
    tap.ok(time.monotonic() - start < 3, "--watch ends at once while a call waits", time.monotonic() - start)
    world.processes[-1].signal(signal.SIGCONT)
    os.close(theirs)
    os.close(ours)


def checks(*arguments, **environment):
    return checks_and_fixes(*arguments, **environment)[:2]


def checks_and_fixes(*arguments, **environment):
    out = cli("doctor", "--json", *arguments, **environment)
    document = schema.check(out.stdout)
    assert document["format"] == "numad-xen-doctor/1"
    for check in document["checks"]:
        assert set(check) == {"code", "ok", "text", "fix"} and check["text"] and bool(check["fix"]) != check["ok"], check
    return (out.returncode, {check["code"]: check["ok"] for check in document["checks"]},
            {check["code"]: check["fix"] for check in document["checks"]})


def test_doctor(tap, world):
    bus = ("--bus", world.address)
    status, found = checks(*bus)
    tap.equal(status, 1, "doctor without a daemon: 1")
    tap.ok(found["bus"] and not found["daemon"] and "dom0" in found and "node-pages" not in found,
           "doctor without a daemon: says what there is", found)
    status, found = checks("--bus", f"unix:path={world.directory}/nothing")
    tap.ok(status == 1 and found["bus"] is False and "daemon" not in found, "doctor without a bus: 1", found)
    host = four_nodes()
    host["node_extra"] = [{"low": 0}] * 4
    daemon = world.daemon(world.host(host))
    status, found = checks(*bus)
    tap.ok(status == 0 and all(found.values()), "doctor on a good simulated host: 0", found)
    tap.ok({"bus", "daemon", "version", "backend", "fresh", "node-pages", "names", "low", "nodes"} <= set(found)
           and "dom0" not in found, "doctor on a simulated host: asks nothing of this machine", found)
    daemon.signal(signal.SIGSTOP)
    status, found = checks(*bus)
    tap.ok(status == 1 and not found["daemon"], "doctor: a daemon that does not answer is found", found)
    daemon.signal(signal.SIGCONT)
    daemon.signal(signal.SIGTERM)
    daemon.wait()
    world.daemon(world.host(four_nodes(features=[])))
    status, found = checks(*bus)
    tap.ok(status == 1 and not found["node-pages"], "doctor: what is missing is found", found)
    tap.ok(found["low"], "doctor: what a description does not say is no fault", found)


def test_doctor_buses(tap, world):
    """What is told to do fits the bus that was asked. The machine's own may be there or not, with a daemon or without."""
    environment = {"DBUS_SYSTEM_BUS_ADDRESS": world.address}
    for name, (status, found, fixes) in (("--bus", checks_and_fixes("--bus", world.address)),
                                         ("environment", checks_and_fixes(**environment))):
        tap.ok("bus-policy" not in found, f"{name}: the system bus's policy is not looked for", found)
        tap.ok("--bus ADDRESS" in fixes["daemon"] and not any("systemctl" in fix for fix in fixes.values()),
               f"{name}: nothing is said of the system bus", fixes)
        if not found["dom0"]:
            tap.ok(found["privcmd"] or fixes["privcmd"] == "it comes with dom0: see to the check dom0 first",
                   f"{name}: no module is loaded where there is no dom0", fixes)
    nowhere = f"unix:path={world.directory}/nothing"
    for name, fixes in (("--bus", checks_and_fixes("--bus", nowhere)[2]),
                        ("environment", checks_and_fixes(DBUS_SYSTEM_BUS_ADDRESS=nowhere)[2])):
        tap.equal(fixes["bus"], "start a dbus-daemon there, or ask on another bus", f"{name}: no bus")
    out = cli("status", **environment)
    tap.ok("systemctl" not in out.stderr and f"--bus {world.address}" in out.stderr,
           "status names the bus of the environment", out)
    host = four_nodes()
    host["node_extra"] = [{"low": 0}] * 4
    daemon = world.daemon(world.host(host))
    status, found = checks(**environment)
    tap.ok(status == 0 and "bus-policy" not in found, "quickstart's shell: all is well", found)
    daemon.signal(signal.SIGSTOP)
    fixes = checks_and_fixes("--bus", world.address)[2]
    tap.equal(fixes["daemon"], "end that numad-xend and start it again", "a daemon that hangs is started again")
    daemon.signal(signal.SIGCONT)


def test_doctor_version(tap, world):
    document = json.dumps({"format": "numad-xen-status/1", "host": {"backend": "xen", "simulated": True},
                           "stats": {"last_collection": time.time() - 100}})
    with FakeDaemon(world.address, {"GetStatus": ("s", [document]), "Get": ("v", [("s", "0.0.1")])}):
        status, found = checks("--bus", world.address)
        tap.ok(status == 1 and found["version"] is False, "doctor: another version is found", found)
        tap.equal(found["fresh"], False, "doctor: old numbers are found")


def test_many(tap, world):
    world.daemon(world.host(many_domains(1000)))
    out = cli("status", "--bus", world.address)
    tap.equal(len(re.findall(r"^\d+ +guest-", out.stdout, flags=re.M)), 1000, "a thousand domains are shown")
    tap.ok(max(map(len, out.stdout.split("\n"))) <= 120, "their lines are short")
    best = min(timed(lambda: cli("status", "--bus", world.address)) for _ in range(5))
    tap.ok(best < 1, "in well under a second", f"{best:.3f} s")


def timed(function):
    start = time.monotonic()
    function()
    return time.monotonic() - start


run_tests(test_same_text, test_exit_statuses, test_no_output, test_hostile, test_watch, test_watch_terminal, test_doctor,
          test_doctor_buses, test_doctor_version, test_many)
