# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private bus, daemons on simulated hosts, and other users, for the integration tests.

The bus runs with the rules of a system bus and the project's own policy file; everything lives in a temporary
directory. Programs come from $NX_BUILDDIR (the top of the build tree), files from the source tree.
"""
import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NX_BUILDDIR") or SOURCE).resolve()
sys.path.insert(0, str(SOURCE / "tests"))

from minibus import BusError, Connection, Timeout  # noqa: E402  (also for those that import us)
import schema  # noqa: E402
from tap import Tap  # noqa: E402

schema.load()

NAME = INTERFACE = "org.numadxen.NumadXen1"
PATH = "/org/numadxen/NumadXen1"
PROPERTIES = "org.freedesktop.DBus.Properties"
NOBODY = 65534
NUMAD_XEND = pathlib.Path(os.environ.get("NUMAD_XEND") or BUILD / "daemon/numad-xend")
SANITIZED = b"__asan_init" in NUMAD_XEND.read_bytes()
PATIENCE = float(os.environ.get("TEST_PATIENCE", "30"))  # seconds until something that must happen has failed

BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <auth>EXTERNAL</auth>
  <limit name="max_replies_per_connection">10000</limit>
  <listen>unix:path={directory}/bus</listen>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Introspectable"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Properties"/>
  </policy>
  <include>{directory}/policy.conf</include>
</busconfig>
"""


def policy_text():
    """The policy as installed; where the tests do not run as root, whoever runs them stands in for root."""
    text = (SOURCE / "systemd/org.numadxen.NumadXen1.conf").read_text()
    return text if os.geteuid() == 0 else text.replace('user="root"', f'user="{pwd.getpwuid(os.geteuid()).pw_name}"')


def wait_for(condition, timeout=PATIENCE, every=0.02):
    """The first true value of condition(), or its last one when the time is over."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(every)


class Process:
    """A child with its output in a file; ended with the block that started it."""

    def __init__(self, command, log, environment=None, uid=None):
        self.log_path = pathlib.Path(log)
        user = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
        with open(log, "wb") as output:
            self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                          env={**os.environ, **(environment or {})}, start_new_session=True,
                                          cwd="/", **user)
        self.pid = self.child.pid

    def log(self):
        return self.log_path.read_text(errors="replace")

    def wait(self, timeout=PATIENCE):
        """Exit status; negative: the signal that ended it; None: it is still running."""
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def running(self):
        return self.child.poll() is None

    def signal(self, number):
        self.child.send_signal(number)

    def end(self):
        """Asks it to stop if it runs; True unless that fails (under the sanitizers: also unless it has leaked)."""
        if not self.running():
            return True
        self.child.send_signal(signal.SIGCONT)
        self.child.terminate()
        status = self.wait(10)
        if status is None:
            self.child.kill()
            self.child.wait()
        return status == 0


class World:
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="numad-xen-test-"))
        self.directory.chmod(0o755)
        self.processes = []
        self.address = f"unix:path={self.directory}/bus"
        self.count = 0
        (self.directory / "policy.conf").write_text(policy_text())
        (self.directory / "bus.conf").write_text(BUS_CONFIG.format(directory=self.directory))
        self.bus = self.start_bus()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        bad = [process for process in reversed(self.processes) if not process.end()]
        text = "\n".join(f"{process.log_path.name}: status {process.wait()}\n{process.log()}" for process in bad)
        shutil.rmtree(self.directory, ignore_errors=True)
        if bad:
            raise RuntimeError(f"does not stop as it should: {text}")

    def start_process(self, command, what, environment=None, uid=None):
        self.count += 1
        process = Process(command, self.directory / f"{what}.{self.count}.log", environment, uid)
        self.processes.append(process)
        return process

    def end_bus(self):
        self.bus.child.kill()
        self.bus.child.wait()

    def start_bus(self):
        with contextlib.suppress(FileNotFoundError):
            (self.directory / "bus").unlink()
        bus = self.start_process(["dbus-daemon", "--nofork", "--nopidfile", f"--config-file={self.directory}/bus.conf"], "bus")
        if not wait_for(self._bus_answers):
            raise RuntimeError(f"no bus: {bus.log()}")
        return bus

    def _bus_answers(self):
        try:
            self.connect().close()
            return True
        except OSError:
            return False

    def connect(self, timeout=PATIENCE):
        return Connection(self.address, timeout)

    def host(self, description, name="host.json"):
        """Writes a host description (replacing one at once) and returns its path."""
        path = self.directory / name
        text = description if isinstance(description, str) else json.dumps(description)
        (self.directory / "new").write_text(text)
        os.replace(self.directory / "new", path)
        return path

    def program(self):
        """A copy of numad-xend where every user can reach it."""
        copy = self.directory / "numad-xend"
        if not copy.exists():
            shutil.copy(NUMAD_XEND, copy)
            copy.chmod(0o755)
        return str(copy)

    def state(self, uid=None):
        """The state directory of that user's daemons in this world, which is there."""
        path = self.directory / ("state" if uid is None else f"state-{uid}")
        if not path.exists():
            path.mkdir(mode=0o700)
            if uid is not None:
                os.chown(path, uid, uid)
        return path

    def start(self, *arguments, environment=None, bus=True, uid=None):
        """numad-xend, without waiting for anything; with the default settings, whatever this machine's are, and with
        this world's state directory."""
        options = ["--bus", self.address] if bus else []
        if "--state-dir" not in arguments and "RUNTIME_DIRECTORY" not in (environment or {}):
            options += ["--state-dir", str(self.state(uid))]
        if "--config" not in arguments:
            (self.directory / "none.conf").touch()
            options += ["--config", str(self.directory / "none.conf")]
        return self.start_process([self.program(), *options, *map(str, arguments)], "daemon", environment, uid)

    def daemon(self, host, environment=None):
        """numad-xend on a simulated host, owning its name."""
        daemon = self.start("--host", host, environment=environment)
        if not self.wait_for_name():
            raise RuntimeError(f"the daemon did not take its name: {daemon.log()}")
        return daemon

    def owned(self, name=NAME):
        with self.connect() as bus:
            return bus.driver("NameHasOwner", "s", [name])[0]

    def wait_for_name(self, owned=True):
        return wait_for(lambda: self.owned() == owned)


def call(bus, member, signature="", arguments=(), **options):
    """The arguments of the answer; a document is as its schema says."""
    answer = bus.call(NAME, PATH, INTERFACE, member, signature, arguments, **options)
    if member in ("GetStatus", "GetTopology", "Gather") and len(answer[0]) <= schema.LARGE:
        schema.check(answer[0])
    return answer


def get(bus, prop):
    return bus.call(NAME, PATH, PROPERTIES, "Get", "ss", [INTERFACE, prop])[0]


def status(bus):
    return json.loads(call(bus, "GetStatus")[0])


def error_of(function, *arguments, **options):
    """Name of the D-Bus error that a call ends with; None when it succeeds."""
    try:
        function(*arguments, **options)
    except BusError as error:
        return error.name
    return None


def wait_for_generation(bus, more=1):
    """Until so many more snapshots have been taken."""
    wanted = get(bus, "Generation") + more
    return wait_for(lambda: get(bus, "Generation") >= wanted)


def as_user(uid, function):
    """Runs function() in a child with that uid and no groups; its JSON-able result. Raises what the child raised."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read_end)
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            result = {"result": function()}
        except BaseException:  # the parent tells
            result = {"failed": traceback.format_exc()}
        with os.fdopen(write_end, "w") as stream:
            json.dump(result, stream)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        text = stream.read()
    os.waitpid(pid, 0)
    answer = json.loads(text)
    if "failed" in answer:
        raise RuntimeError(answer["failed"])
    return answer["result"]


class Notify:
    """What a service manager hears."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.messages = []

    def environment(self, **more):
        return {"NOTIFY_SOCKET": self.path, **more}

    def take(self, timeout):
        """All messages so far, after waiting for at most one more."""
        self.socket.settimeout(timeout)
        with contextlib.suppress(socket.timeout):
            while True:
                self.messages.append(self.socket.recv(4096).decode())
                self.socket.settimeout(0.001)
        return self.messages

    def wait(self, line):
        """Whether a message with that line has come."""
        return wait_for(lambda: any(line in m.split("\n") for m in self.take(0.2)))


def four_nodes(**changes):
    """A small patched host: four nodes with two CPUs each, dom0 and two guests."""
    gib = 1 << 30
    host = {
        "format": "numad-xen-host/1",
        "xen_version": "4.17.5",
        "features": ["node-pages", "node-memory"],
        "nodes": [{"size": 4 * gib, "free": 2 * gib, "cpus": f"{2 * n}-{2 * n + 1}",
                   "distances": [10 if n == m else 16 if n // 2 == m // 2 else 22 for m in range(4)]}
                  for n in range(4)],
        "domains": [
            {"domid": 0, "name": "Domain-0", "type": "pv", "state": "running", "total_pages": 4000, "max_pages": 4000,
             "node_pages": [1000, 1000, 1000, 1000], "vcpus": [{"hard": "0-7", "soft": "0-7", "cpu": 0}]},
            {"domid": 1, "name": "g1", "uuid": "11111111-2222-3333-4444-555555555555", "type": "pv",
             "state": "running", "total_pages": 262144, "max_pages": 262144, "node_pages": [0, 262144, 0, 0],
             "vcpus": [{"hard": "0-7", "soft": "2-3", "cpu": 2}, {"hard": "0-7", "soft": "2-3", "cpu": 3}]},
            {"domid": 7, "name": "g7", "type": "hvm", "state": "paused", "total_pages": 3, "max_pages": 3,
             "node_pages": [1, 0, 0, 2], "vcpus": [{"hard": "0-7", "soft": "0-7"}]},
        ],
    }
    host.update(changes)
    return host


def many_domains(n_domains, n_nodes=8, cpus_per_node=32, n_vcpus=4):
    """A patched host of that size; each domain has its memory on one node and prefers its CPUs."""
    gib = 1 << 30
    domains = []
    for domid in range(n_domains):
        node = domid % n_nodes
        cpus = f"{node * cpus_per_node}-{(node + 1) * cpus_per_node - 1}"
        domains.append({
            "domid": domid, "name": f"guest-{domid}", "uuid": f"00000000-0000-4000-8000-{domid:012x}", "type": "pvh",
            "state": "running", "total_pages": 65536, "max_pages": 65536,
            "node_pages": [65536 if n == node else 0 for n in range(n_nodes)],
            "node_affinity": str(node),
            "vcpus": [{"hard": f"0-{n_nodes * cpus_per_node - 1}", "soft": cpus, "cpu": node * cpus_per_node}
                      for _ in range(n_vcpus)],
        })
    return {
        "format": "numad-xen-host/1", "xen_version": "4.17.5", "features": ["node-pages", "node-memory"],
        "nodes": [{"size": 256 * gib, "free": 200 * gib,
                   "cpus": f"{n * cpus_per_node}-{(n + 1) * cpus_per_node - 1}",
                   "distances": [10 if n == m else 21 for m in range(n_nodes)]} for n in range(n_nodes)],
        "domains": domains,
    }


@contextlib.contextmanager
def time_limit(seconds):
    """Ends a test that hangs."""
    def stop(*_):
        raise TimeoutError(f"not done after {seconds} s")
    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def run_tests(*tests, limit=120):
    """Runs test(tap, world) for each, every one in a world of its own. An exception is a failed test."""
    tap = Tap()
    for test in tests:
        world = None
        try:
            with time_limit(limit), World() as world:
                try:
                    test(tap, world)
                except BaseException:
                    for process in world.processes:
                        tap.note(f"{process.log_path.name}:\n{process.log()}")
                    raise
        except (Exception, KeyboardInterrupt):
            tap.ok(False, f"{test.__name__} runs to its end", traceback.format_exc())
    tap.done()
