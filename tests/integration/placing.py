# SPDX-License-Identifier: LGPL-2.1-or-later
"""Placements on a private bus: requests, answers, what the status says of them, and domains that come and go.

    token, placement = place(bus, vcpus=2, memory=GIB)
    commit(bus, token, domid)     release(bus, token)     explain(bus, vcpus=2, memory=GIB)
"""
import collections
import copy
import uuid as uuids

from world import *  # noqa: F401,F403
from world import INTERFACE, NAME, PATH, PATIENCE, BusError, Connection, Timeout  # noqa: F401

MIB, GIB = 1 << 20, 1 << 30
ERROR = NAME + ".Error."
NOFIT, INVALID, UNKNOWN_DOMAIN, UNKNOWN_TOKEN, EXPIRED, LIMIT_REACHED = (
    ERROR + name for name in ("NoFit", "InvalidRequest", "UnknownDomain", "UnknownToken", "Expired", "LimitReached"))
DENIED = "org.freedesktop.DBus.Error.AccessDenied"
SIM = INTERFACE + ".Sim"

REQUEST_TYPES = {"vcpus": "u", "memory": "t", "max_memory": "t", "name": "s", "uuid": "s", "type": "s", "policy": "s",
                 "nodes": "au", "cpus": "s", "pool": "u", "near": "s", "strict": "b", "ttl_ms": "u",
                 "threads_per_core": "u"}
PLACEMENT_TYPES = {"nodes": "au", "memory": "a(ut)", "overhead": "t", "vcpus": "a(uss)", "extent_order": "u",
                   "expected_locality": "d", "reason": "s", "expires_ms": "u"}


def request(**keys):
    """The a{sv} of a request; a value (signature, value) goes as it is, another by its key's type."""
    return [(key, value if isinstance(value, tuple) else (REQUEST_TYPES[key], value)) for key, value in keys.items()]


def send_place(bus, **keys):
    """The serial of a Place whose answer is not waited for."""
    return bus.send(NAME, PATH, INTERFACE, "Place", "a{sv}", [request(**keys)])


def place(bus, **keys):
    """(token, placement)"""
    return tuple(bus.call(NAME, PATH, INTERFACE, "Place", "a{sv}", [request(**keys)]))


def explain(bus, **keys):
    """The placement document, which is as its schema says."""
    return schema.check(bus.call(NAME, PATH, INTERFACE, "Explain", "a{sv}", [request(**keys)])[0])


def commit(bus, token, domid):
    bus.call(NAME, PATH, INTERFACE, "Commit", "su", [token, domid])


def release(bus, token):
    bus.call(NAME, PATH, INTERFACE, "Release", "s", [token])


CREATE_TYPES = {**REQUEST_TYPES, "state": "s", "hard": "s", "soft": "s", "node_affinity": "s", "token": "s"}
FAULT_TYPES = {"node": "u", "bytes": "t", "domid": "u", "call": "s", "errno": "u", "times": "u", "ms": "u",
               "on": "u"}


def sim(bus, member, signature, *arguments):
    return bus.call(NAME, PATH, SIM, member, signature, arguments)


def create(bus, **keys):
    """The id of a domain that is started on the simulated host."""
    return sim(bus, "Create", "a{sv}", [(key, (CREATE_TYPES[key], value)) for key, value in keys.items()])[0]


def destroy(bus, domid):
    sim(bus, "Destroy", "u", domid)


def fault(bus, kind, **keys):
    sim(bus, "Fault", "sa{sv}", kind, [(key, (FAULT_TYPES[key], value)) for key, value in keys.items()])


def failure(function, *arguments, **options):
    """(name, text) of the D-Bus error that a call ends with; (None, None) when it succeeds."""
    try:
        function(*arguments, **options)
    except BusError as error:
        return error.name, error.text
    return None, None


def reservations(bus):
    """By token."""
    return {r["token"]: r for r in status(bus)["reservations"]}


def reserved(bus):
    """Bytes of each node."""
    return [node["memory"]["reserved"] for node in status(bus)["nodes"]]


def available(bus):
    return [node["memory"]["available"] for node in status(bus)["nodes"]]


def domain(bus, domid):
    """What the status says of it; None: there is none."""
    return next((d for d in status(bus)["domains"] if d["domid"] == domid), None)


def new_uuid():
    return str(uuids.uuid4())


def listen(bus):
    """From now on the daemon's signals are kept."""
    bus.driver("AddMatch", "s", [f"type='signal',sender='{NAME}'"])


def guest(domid, node_pages, **more):
    """A domain of a host description."""
    total = sum(node_pages)
    return {"domid": domid, "type": "pvh", "state": "running", "total_pages": total, "max_pages": max(total, 1),
            "node_pages": node_pages, "vcpus": [{"hard": "0-7", "soft": "0-7", "cpu": 0}], **more}


def reload(daemon, said="reloaded"):
    """Whether SIGHUP makes it say that."""
    before = len(daemon.log())
    daemon.signal(signal.SIGHUP)
    return wait_for(lambda: said in daemon.log()[before:])


def change_host(world, daemon, bus, host):
    """The simulated host becomes this one, and is shown."""
    world.host(host)
    assert reload(daemon), daemon.log()
    wait_for_generation(bus, 2)


class Guests:
    """Domains on a simulated host that is changed by its description: what a builder would do, step by step."""

    def __init__(self, world, host=None):
        self.world = world
        self.host = copy.deepcopy(host or four_nodes())
        self.daemon = None

    def path(self):
        return self.world.host(self.host)

    def show(self, bus):
        change_host(self.world, self.daemon, bus, self.host)

    def set(self, bus, domid, node_pages, **more):
        """The domain holds that many pages of each node, which are free no more."""
        self._give_back(domid)
        self.host["domains"].append(guest(domid, node_pages, **more))
        for node, pages in zip(self.host["nodes"], node_pages):
            node["free"] -= 4096 * pages
        self.show(bus)

    def end(self, bus, domid):
        self._give_back(domid)
        self.show(bus)

    def _give_back(self, domid):
        for d in [d for d in self.host["domains"] if d["domid"] == domid]:
            self.host["domains"].remove(d)
            for node, pages in zip(self.host["nodes"], d["node_pages"]):
                node["free"] += 4096 * pages


def start_daemon(world, settings="", host=None, arguments=(), environment=None):
    """numad-xend with these settings on a simulated host, owning its name."""
    config = world.directory / "numad-xend.conf"
    config.write_text(settings)
    path = host if isinstance(host, (str, os.PathLike)) else world.host(host or four_nodes())
    daemon = world.start("--host", path, "--config", config, *arguments, environment=environment)
    if not world.wait_for_name():
        raise RuntimeError(f"the daemon did not take its name: {daemon.log()}")
    return daemon


class CountingConnection(Connection):
    """Counts the answers to each call, and knows when they came."""

    def __init__(self, address, timeout=PATIENCE):
        self.counted = collections.Counter()
        self.came = {}
        super().__init__(address, timeout)

    def read_for(self, seconds):
        self.signal("", "", seconds)

    def _sort(self, message):
        if message.reply_to:
            self.counted[message.reply_to] += 1
            self.came[message.reply_to] = time.monotonic()
        super()._sort(message)


def memory_mib(daemon, field="VmRSS"):
    line, = (s for s in pathlib.Path(f"/proc/{daemon.pid}/status").read_text().splitlines() if s.startswith(field + ":"))
    return int(line.split()[1]) / 1024
