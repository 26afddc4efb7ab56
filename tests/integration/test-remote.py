#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""-H: the daemon of another host, over an ssh of ours that is first in the PATH.

It checks how it is called and, by the host's name, runs systemd-stdio-bridge on the test's bus or fails as ssh does.
"""
import pty
import select

from world import *  # noqa: F403

NUMAD_XEN = str(os.environ.get("NUMAD_XEN") or BUILD / "numad-xen")
ASK = BUILD / "tests/integration/ask"

SSH = """#!/bin/sh
echo "$$ $*" >>{directory}/calls
if [ $# != 4 ] || [ "$1" != -xT ] || [ "$2" != -- ] || [ "$4" != systemd-stdio-bridge ]; then
    echo "ssh: called like this: $*" >&2
    exit 255
fi
case ${{3#*@}} in
xen1) ;;
asks)
    printf "the password: " >/dev/tty
    read -r password </dev/tty
    [ "$password" = sesame ] || exit 255
    ;;
nobody) echo "ssh: Could not resolve hostname nobody: Name or service not known" >&2; exit 255 ;;
no-bridge) echo "sh: 1: systemd-stdio-bridge: not found" >&2; exit 127 ;;
no-bus) exec systemd-stdio-bridge --bus-path=unix:path={directory}/nothing ;;
noisy) printf 'Welcome to noisy!\\r\\n' ;;
drops) sleep 0.2; exit 0 ;;
esac
exec systemd-stdio-bridge --bus-path=unix:path={directory}/bus
"""


class Ssh:
    def __init__(self, world):
        self.directory = world.directory
        (world.directory / "bin").mkdir()
        path = world.directory / "bin/ssh"
        path.write_text(SSH.format(directory=world.directory))
        path.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{world.directory}/bin:{os.environ['PATH']}"}

    def calls(self):
        """Process and arguments of each call."""
        path = self.directory / "calls"
        return [line.split(" ", 1) for line in path.read_text().splitlines()] if path.exists() else []

    def alive(self):
        return [pid for pid, _ in self.calls() if pathlib.Path(f"/proc/{pid}").exists()]

    def run(self, *command):
        start = time.monotonic()
        out = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=100, env=self.environment)
        out.seconds = time.monotonic() - start
        return out

    def cli(self, *arguments):
        return self.run(NUMAD_XEN, *arguments)


def has_bridge(tap, what):
    if shutil.which("systemd-stdio-bridge"):
        return True
    tap.skip(what, "systemd-stdio-bridge is not installed")
    return False


def test_same_answers(tap, world):
    if not has_bridge(tap, "another host answers"):
        return
    ssh = Ssh(world)
    world.daemon(world.host(four_nodes()))
    for command in (["status"], ["topology"], ["topology", "--json"], ["numastat"], ["numastat", "--pages"],
                    ["topology", "--hwloc"]):
        far, near = ssh.cli("-H", "root@xen1", *command), ssh.cli("--bus", world.address, *command)
        tap.ok(far.returncode == 0 and not far.stderr and far.stdout == near.stdout and far.stdout,
               f"{' '.join(command)}: there as here", far)
    tap.ok(json.loads(ssh.cli("status", "--json", "-H", "xen1").stdout)["format"] == "numad-xen-status/1",
           "-H stands behind the command too")
    tap.equal(ssh.calls()[0][1], "-xT -- root@xen1 systemd-stdio-bridge", "ssh is called as sd-bus calls it")
    tap.equal(ssh.calls()[-1][1], "-xT -- xen1 systemd-stdio-bridge", "with the host as given")
    tap.ok(wait_for(lambda: not ssh.alive()), "no ssh is left", ssh.alive())
    for host in "xen1", "nobody":
        out = ssh.run(ASK, f"ssh:{host}", "version")
        tap.ok("a child is left" not in out.stdout and out.stdout, f"{host}: the library takes its child's status", out)


def test_doctor(tap, world):
    if not has_bridge(tap, "doctor asks another host"):
        return
    ssh = Ssh(world)
    world.daemon(world.host(four_nodes()))
    checks = {check["code"]: check for check in json.loads(ssh.cli("doctor", "--json", "-H", "xen1").stdout)["checks"]}
    tap.ok(checks["bus"]["ok"] and checks["daemon"]["ok"] and checks["version"]["ok"], "doctor asks another host", checks)
    out = ssh.cli("doctor", "--json", "-H", "nobody")
    checks = json.loads(out.stdout)["checks"]
    tap.ok(out.returncode == 1 and [check["code"] for check in checks] == ["bus"] and "dbus" in checks[0]["fix"],
           "doctor says nothing of this machine when another was asked for", checks)


def fails(tap, out, text, name, status=4):
    last = out.stderr.rstrip("\n").split("\n")[-1]
    tap.ok(out.returncode == status and not out.stdout and last == f"numad-xen: {text}", name, out)


def test_failures(tap, world):
    ssh = Ssh(world)
    out = ssh.cli("-H", "nobody", "status")
    fails(tap, out, "ssh to nobody failed: try 'ssh nobody true'", "a failed login")
    tap.ok(out.stderr.startswith("ssh: Could not resolve"), "ssh says itself what is wrong", out)
    fails(tap, ssh.cli("-H", "no-bridge", "status"), "no-bridge has no systemd-stdio-bridge: it comes with systemd and "
          "must be in the PATH of commands run by ssh", "no bridge there")
    fails(tap, ssh.cli("-H", "drops", "status"), "drops closed the connection before its system bus answered",
          "a connection that is dropped")
    if not has_bridge(tap, "a bus that is not there"):
        return
    fails(tap, ssh.cli("-H", "no-bus", "status"), "cannot reach the system bus of no-bus: systemd-stdio-bridge failed "
          "there: is dbus-daemon running?", "no bus there")
    fails(tap, ssh.cli("-H", "noisy", "status"), "noisy answers, but not as a system bus: do the shell's start files "
          "there print something?", "a shell that prints")
    fails(tap, ssh.cli("-H", "root@xen1", "status"), "numad-xend is not running on root@xen1: 'systemctl start "
          "numad-xend' there", "no daemon there")
    daemon = world.daemon(world.host(four_nodes()))
    daemon.signal(signal.SIGSTOP)
    out = ssh.cli("-H", "xen1", "status")
    daemon.signal(signal.SIGCONT)
    fails(tap, out, "no answer from numad-xend on xen1 in 5 s: 'systemctl status numad-xend' there says what it does",
          "a daemon that does not answer")
    tap.ok(out.seconds < 5 + PATIENCE, "and nobody waits long for it", out.seconds)
    tap.ok(wait_for(lambda: not ssh.alive()), "no ssh is left of all that", ssh.alive())


def test_usage(tap, world):
    """What could mean something else to ssh is refused before it is run."""
    ssh = Ssh(world)
    host = world.host(four_nodes())
    for value, why in (("-oProxyCommand=touch /tmp/x", "a host does not begin with '-'"), ("", "no host"),
                       ("root@-v", "a host does not begin with '-'"), ("xen1:22", "ssh takes the port from ~/.ssh/config"),
                       ("xen1 reboot", "a host has letters, digits and . _ -"),
                       ("xen1,argv2=-v", "a host has letters, digits and . _ -"),
                       ("@xen1", "no user before the '@'")):
        fails(tap, ssh.cli("-H", value, "status"), f"-H: '{value}': {why}: give [USER@]HOST", f"-H {value!r}", 2)
    for options, why in ((["--host", host, "-H", "xen1"], "--host and -H: give one, a host description or a daemon to ask"),
                         (["--bus", "unix:path=/x", "-H", "xen1"],
                          "--bus and -H: give one, a bus of this machine or another machine")):
        out = ssh.cli(*options, "status")
        tap.ok(out.returncode == 2 and out.stderr.startswith(f"numad-xen: status: {why}\n") and not out.stdout,
               f"{options[0]} with -H", out)
    out = ssh.cli("status", "-H")
    tap.ok(out.returncode == 2 and out.stderr.startswith("numad-xen: status: -H: needs a value\n"), "-H alone", out)
    tap.equal(ssh.calls(), [], "ssh was never run")


class Terminal:
    """A child with a terminal of its own, which ssh can ask on."""

    def __init__(self, ssh, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(NUMAD_XEN, [NUMAD_XEN, *arguments], {**ssh.environment, "TERM": "xterm"})
        self.text = b""

    def shows(self, what):
        def look():
            with contextlib.suppress(OSError):  # when the child has gone
                if select.select([self.fd], [], [], 0)[0]:
                    self.text += os.read(self.fd, 65536)
            return what in self.text
        return wait_for(look)

    def type(self, text):
        os.write(self.fd, text)

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_password(tap, world):
    """A person is asked on the terminal, and may take more time than a bus."""
    if not has_bridge(tap, "a password is asked for"):
        return
    ssh = Ssh(world)
    world.daemon(world.host(four_nodes()))
    child = Terminal(ssh, "-H", "asks", "status")
    tap.ok(child.shows(b"the password: "), "a password is asked for", child.text)
    time.sleep(6)
    child.type(b"sesame\n")
    tap.ok(child.shows(b"Domain-0"), "and after 6 seconds of typing there is the answer", child.text)
    tap.equal(child.status(), 0, "with status 0")
    child = Terminal(ssh, "-H", "asks", "status")
    child.shows(b"the password: ")
    child.type(b"please\n")
    tap.ok(child.shows(b"ssh to asks failed"), "a wrong one is told", child.text)
    tap.equal(child.status(), 4, "with status 4")
    child = Terminal(ssh, "-H", "asks", "status", "--watch")
    tap.ok(child.shows(b"the password: ") and b"\x1b[?1049h" not in child.text,
           "--watch asks before it takes the screen", child.text)
    child.type(b"sesame\n")
    tap.ok(child.shows(b"Domain-0"), "--watch shows another host", child.text)
    child.type(b"q")
    tap.equal(child.status(), 0, "and ends with q")
    tap.ok(wait_for(lambda: not ssh.alive()), "no ssh is left", ssh.alive())


def test_watch(tap, world):
    """A connection that is lost is made again."""
    if not has_bridge(tap, "a lost connection is told"):
        return
    ssh = Ssh(world)
    world.daemon(world.host(four_nodes()))
    with open(world.directory / "out", "wb") as out, open(world.directory / "err", "wb") as err:
        watch = subprocess.Popen([NUMAD_XEN, "status", "--watch", "-H", "xen1"], stdout=out, stderr=err,
                                 env=ssh.environment)
    read = lambda name: (world.directory / name).read_text()
    tap.ok(wait_for(lambda: read("out").count("Domain-0") >= 2), "--watch shows another host", read("err"))
    tap.equal(len(ssh.calls()), 1, "over one connection")
    os.kill(int(ssh.calls()[0][0]), signal.SIGKILL)
    tap.ok(wait_for(lambda: "the connection to xen1 is lost; waiting for it" in read("err")),
           "a lost connection is told", read("err"))
    tap.ok(wait_for(lambda: "numad-xend is back" in read("err")), "and made again", read("err"))
    watch.send_signal(signal.SIGTERM)
    tap.equal(watch.wait(PATIENCE), 0, "--watch ends with 0 on SIGTERM")
    tap.ok(wait_for(lambda: not ssh.alive()), "no ssh is left", ssh.alive())


run_tests(test_same_answers, test_doctor, test_failures, test_usage, test_password, test_watch)
