#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every member of the interface, against a host whose numbers are known."""
from world import *  # noqa: F403


def test_methods(tap, world):
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        document = status(bus)
        tap.equal(document["format"], "numad-xen-status/1", "GetStatus: the status document")
        tap.equal([d["domid"] for d in document["domains"]], [0, 1, 7], "GetStatus: all domains")
        tap.ok(document["host"]["simulated"], "GetStatus: says that the host is simulated")
        tap.ok(document["generation"] >= 1, "GetStatus: has a generation")
        topology = json.loads(call(bus, "GetTopology")[0])
        tap.equal(topology["format"], "numad-xen-topology/1", "GetTopology: the topology document")
        tap.equal([c["node"] for c in topology["cpus"]], [0, 0, 1, 1, 2, 2, 3, 3], "GetTopology: CPUs on their nodes")
        tap.equal(call(bus, "ListDomains")[0],
                  [(0, "Domain-0", "", 4000 * 4096), (1, "g1", "11111111-2222-3333-4444-555555555555", 1 << 30),
                   (7, "g7", "", 3 * 4096)], "ListDomains: id, name, UUID, bytes")
        tap.equal(call(bus, "GetDomainMemory", "u", [1])[0], [(1, 1 << 30)], "GetDomainMemory: one node")
        tap.equal(call(bus, "GetDomainMemory", "u", [7])[0], [(0, 4096), (3, 8192)], "GetDomainMemory: two nodes")


def test_properties(tap, world):
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        everything = bus.call(NAME, PATH, PROPERTIES, "GetAll", "s", [INTERFACE])[0]
        generation = everything.pop("Generation")
        version = everything.pop("Version")
        tap.equal(everything, {"Backend": "sim", "Simulated": True, "Features": ["node-pages", "node-memory"],
                               "Nodes": 4}, "properties tell the host")
        tap.ok(version and version in subprocess.run([NUMAD_XEND, "--version"], capture_output=True, text=True,
                                                     check=True).stdout, "Version is that of --version")
        tap.ok(wait_for_generation(bus, 2) and get(bus, "Generation") > generation, "Generation grows by itself")


def test_generations(tap, world):
    """One a second, neither less nor more."""
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        wait_for_generation(bus)
        first, start = get(bus, "Generation"), time.monotonic()
        time.sleep(5)
        taken, seconds = get(bus, "Generation") - first, time.monotonic() - start
        tap.ok(abs(taken - seconds) < 1.5, "a snapshot each second", f"{taken} in {seconds:.2f} s")
        stats = status(bus)["stats"]
        tap.ok(abs(stats["last_collection"] - time.time()) < 3, "last_collection is about now", stats)
        tap.ok(stats["collection_seconds"]["count"] >= taken, "every collection is counted", stats)
        tap.equal(set(stats["collection_errors"].values()), {0}, "no errors on a simulated host")


def test_while_it_is_built(tap, world):
    """A status that takes many dispatches to build is of one generation, and not older than what was seen before."""
    host = many_domains(4096, 16, 16)
    for domain in host["domains"]:
        domain["node_pages"] = [7] * 16
        domain["total_pages"] = 7 * 16
    world.daemon(world.host(host))
    good = []
    with world.connect() as first, world.connect() as second:
        wait_for_generation(first)
        for _ in range(8):
            seen = get(first, "Generation")
            serial = first.send(NAME, PATH, INTERFACE, "GetStatus")
            listed = len(call(second, "ListDomains")[0])
            document = json.loads(first.answer(serial)[0])
            good.append(document["generation"] >= seen and len(document["domains"]) == listed == 4096 and
                        get(second, "Generation") >= document["generation"])
            time.sleep(0.3)
        tap.ok(len(json.dumps(document)) > 3 << 20, "it is a large one")
    tap.equal(good, [True] * 8, "each is whole, and as new as what others were told")


def test_errors(tap, world):
    host = four_nodes(features=[])
    del host["domains"][1]["node_pages"]
    world.daemon(world.host(host))
    error = NAME + ".Error."
    with world.connect() as bus:
        tap.equal(error_of(call, bus, "GetDomainMemory", "u", [2]), error + "UnknownDomain", "an id nobody has")
        tap.equal(error_of(call, bus, "GetDomainMemory", "u", [65537]), error + "UnknownDomain",
                  "an id above 16 bits is not cut to one that exists")
        tap.equal(error_of(call, bus, "GetDomainMemory", "u", [1]), error + "Unsupported",
                  "an unpatched hypervisor cannot say")
        tap.equal(error_of(call, bus, "GetDomainMemory"), "org.freedesktop.DBus.Error.InvalidArgs", "no argument")
        tap.equal(error_of(call, bus, "Pin"), "org.freedesktop.DBus.Error.UnknownMethod", "a member that is not built")
        tap.equal(error_of(get, bus, "Nonsense"), "org.freedesktop.DBus.Error.UnknownProperty", "an unknown property")
        tap.ok(error_of(bus.call, NAME, PATH, PROPERTIES, "Set", "ssv", [INTERFACE, "Nodes", ("u", 1)]),
               "properties cannot be set")
        tap.equal(status(bus)["domains"][1]["memory"]["nodes"], None, "and the status says null")


def test_many_domains(tap, world):
    world.daemon(world.host(many_domains(1000)))
    with world.connect() as bus:
        document = status(bus)
        tap.equal(len(document["domains"]), 1000, "GetStatus: 1000 domains")
        tap.equal(len(document["nodes"]), 8, "GetStatus: 8 nodes")
        tap.equal({d["locality"] for d in document["domains"]}, {1.0}, "GetStatus: each one local")
        tap.equal([d[0] for d in call(bus, "ListDomains")[0]], list(range(1000)), "ListDomains: 1000 domains by id")
        tap.equal(call(bus, "GetDomainMemory", "u", [999])[0], [(7, 65536 * 4096)], "GetDomainMemory: the last one")


def test_odd_names(tap, world):
    """Names are bytes that a guest's owner chose; the bus disconnects whoever sends invalid UTF-8."""
    host = four_nodes()
    host["domains"][1]["name"] = 'quote " backslash \\ tab \t euro \u20ac'
    host["domains"][2].pop("name")
    daemon = world.daemon(world.host(host))
    with world.connect() as bus:
        names = {d["domid"]: d["name"] for d in status(bus)["domains"]}
        tap.equal(names[1], host["domains"][1]["name"], "GetStatus: any name survives")
        tap.equal(names[7], None, "GetStatus: no name is null")
        tap.equal([d[1] for d in call(bus, "ListDomains")[0]], ["Domain-0", host["domains"][1]["name"], ""],
                  "ListDomains: the same, no name is empty")
    tap.ok(daemon.running(), "the daemon stays on the bus")


def test_too_large(tap, world):
    """The bus drops whoever sends more than it takes, so such an answer is an error and the daemon stays."""
    body_max = (32 << 20) - 4096
    host = four_nodes(domains=[{"domid": 0, "name": "", "type": "pv", "state": "running", "total_pages": 1,
                                "node_pages": [0, 1, 0, 0]}])
    daemon = world.daemon(world.host(host))
    with world.connect() as bus:
        def name_length(length):
            host["domains"][0]["name"] = "x" * length
            world.host(host)
            n = daemon.log().count("reloaded")
            daemon.signal(signal.SIGHUP)
            wait_for(lambda: daemon.log().count("reloaded") > n)
            wait_for_generation(bus, 2)

        def errors():
            return [error_of(call, bus, member) for member in ("GetStatus", "ListDomains", "GetTopology")]

        limit = NAME + ".Error.LimitReached"
        room = body_max - len(call(bus, "GetStatus")[0])
        name_length(room - 2048)  # the counters grow
        tap.equal(errors(), [None] * 3, "answers as large as a message may be")
        name_length(room + 64)
        tap.equal(errors(), [limit, None, None], "a status that is larger is refused")
        length = body_max - 8 - 4 - 5 - 8 - 8
        length -= (length + 4 + 5) % 8  # the last bytes are aligned
        name_length(length)
        tap.equal(errors(), [limit, None, None], "a list as large as a message may be")
        name_length(length + 8)
        tap.equal(errors(), [limit, limit, None], "a list that is larger is refused")
        try:
            call(bus, "ListDomains")
        except BusError as error:
            tap.ok("too large" in error.text and "33554432" in error.text, "which says why", error.text)
        tap.equal(call(bus, "GetDomainMemory", "u", [0])[0], [(1, 4096)], "one domain can be asked for")
        tap.ok(daemon.running(), "the daemon lives", daemon.log())


run_tests(test_methods, test_properties, test_generations, test_errors, test_many_domains, test_odd_names,
          test_too_large, test_while_it_is_built)
