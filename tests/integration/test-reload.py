#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SIGHUP reads the host description again; signals tell real changes and nothing else."""
from world import *  # noqa: F403


def domids(bus):
    return [d[0] for d in call(bus, "ListDomains")[0]]


def test_reload(tap, world):
    host = four_nodes()
    path = world.host(host)
    daemon = world.daemon(path)
    with world.connect() as bus:
        host["domains"].pop(1)
        world.host(host)
        wait_for_generation(bus, 2)
        tap.equal(domids(bus), [0, 1, 7], "a changed file alone changes nothing")
        daemon.signal(signal.SIGHUP)
        tap.ok(wait_for(lambda: domids(bus) == [0, 7]), "SIGHUP reads it again")
        tap.equal(error_of(call, bus, "GetDomainMemory", "u", [1]), NAME + ".Error.UnknownDomain",
                  "a domain that went is unknown")

        world.host('{"format": "numad-xen-host/1", "nodes": [')
        refused(tap, world, bus, daemon, "a torn file", "host.json")
        world.host(four_nodes(surprise=1))
        refused(tap, world, bus, daemon, "an unknown key", "surprise")
        path.unlink()
        refused(tap, world, bus, daemon, "a vanished file", "No such file")

        world.host(four_nodes())
        daemon.signal(signal.SIGHUP)
        tap.ok(wait_for(lambda: domids(bus) == [0, 1, 7]), "a good file is taken after bad ones")


def refused(tap, world, bus, daemon, what, reason):
    before = len(daemon.log())
    daemon.signal(signal.SIGHUP)
    told = lambda: "reload refused" in daemon.log()[before:]
    tap.ok(wait_for(told) and reason in daemon.log()[before:], f"{what} is refused with its reason", daemon.log())
    wait_for_generation(bus, 2)
    tap.equal(domids(bus), [0, 7], f"{what}: what was goes on, and collecting too")


def test_fifo(tap, world):
    """A file that nobody writes to must not keep the loop waiting."""
    path = world.host(four_nodes())
    daemon = world.daemon(path)
    regular, empty = "host.json: not a regular file", "host.json/host.json: No such file or directory"
    for what, make, why in (("FIFO", os.mkfifo, regular), ("directory without a capture", os.mkdir, empty),
                            ("device", lambda p: os.symlink("/dev/zero", p), regular)):
        path.unlink() if not path.is_dir() else path.rmdir()
        make(path)
        before = len(daemon.log())
        daemon.signal(signal.SIGHUP)
        told = lambda: "reload refused" in daemon.log()[before:]
        tap.ok(wait_for(told, 10) and why in daemon.log()[before:], f"a {what} is refused", daemon.log())
    with world.connect() as bus:
        tap.ok(wait_for_generation(bus, 2), "and collecting goes on")
    daemon.signal(signal.SIGTERM)
    tap.equal(daemon.wait(10), 0, "it can be stopped")


def test_topology_changed(tap, world):
    host = four_nodes()
    daemon = world.daemon(world.host(host))
    with world.connect() as bus:
        bus.driver("AddMatch", "s", [f"type='signal',sender='{NAME}'"])
        changed = lambda timeout: bus.signal(INTERFACE, "TopologyChanged", timeout)
        other = lambda: bus.signal(PROPERTIES, "PropertiesChanged", 0.1)

        def reload():
            world.host(host)
            generation = get(bus, "Generation")
            daemon.signal(signal.SIGHUP)
            wait_for(lambda: get(bus, "Generation") > generation + 1)

        reload()
        tap.equal(changed(1.5), None, "no signal: the same file again")
        host["domains"][1]["node_pages"] = [262144, 0, 0, 0]
        host["nodes"][0]["free"] -= 1 << 30
        host["domains"].pop()
        reload()
        tap.equal(changed(1.5), None, "no signal: memory moved and a domain went")
        tap.equal(other(), None, "nor one of properties")

        host["nodes"][0]["distances"][3] = 32
        reload()
        tap.ok((changed(PATIENCE) or [0])[0] >= 1, "TopologyChanged: a distance changed")
        tap.equal(changed(1.5), None, "once")
        tap.equal(other(), None, "no property changed with it")

        for node in host["nodes"]:
            node["distances"].append(22)
        host["nodes"].append({"size": 1 << 30, "free": 1 << 30, "distances": [22, 22, 22, 22, 10]})
        for domain in host["domains"]:
            domain["node_pages"].append(0)
        reload()
        tap.ok(changed(PATIENCE), "TopologyChanged: a node came")
        told = other()
        tap.ok(told and told[1] == {"Nodes": ("u", 5)} or told and told[1] == {"Nodes": 5},
               "PropertiesChanged: Nodes and nothing else", told)
        host["features"] = ["node-pages"]
        reload()
        told = other()
        tap.ok(told and told[1] == {"Features": ["node-pages"]}, "PropertiesChanged: Features and nothing else", told)
        tap.equal(changed(1.5), None, "a feature is no topology")


def test_reload_storm(tap, world):
    """Many signals at once: no crash, the last file wins, the clock goes on."""
    host = four_nodes()
    daemon = world.daemon(world.host(host))
    with world.connect() as bus:
        for i in range(200):
            host["domains"][2]["domid"] = 100 + i
            world.host(host)
            daemon.signal(signal.SIGHUP)
            if i % 20 == 0:
                domids(bus)
        tap.ok(wait_for(lambda: domids(bus) == [0, 1, 299]), "the last of 200 files is what is shown")
        tap.ok(wait_for_generation(bus, 2), "and collecting goes on")
    tap.ok(daemon.running(), "the daemon lives", daemon.log()[-2000:])


def test_forged_lines(tap, world):
    """What the log tells of a file cannot look like a line of its own, nor reach the terminal."""
    daemon = world.daemon(world.host(four_nodes()))
    world.host(four_nodes(**{"x\nnumad-xend: ready: Xen host\u001b[31m\u009b31m\r\u007f\u20ac": 1}))
    daemon.signal(signal.SIGHUP)
    wait_for(lambda: "reload refused" in daemon.log())
    lines = daemon.log_path.read_bytes().decode().split("\n")
    tap.equal([line for line in lines if line.startswith("numad-xend: ready: Xen")], [], "no line is forged")
    tap.ok(any(r"x\x0anumad-xend: ready: Xen host\x1b[31m\xc2\x9b31m\x0d\x7f\u20ac".replace(r"\u20ac", "\u20ac") in line
               for line in lines), "control characters are escaped, others shown", lines)
    tap.equal([c for line in lines for c in line if ord(c) < 32 or 127 <= ord(c) < 160], [], "and none is left")


def resident_mib(daemon):
    line, = (s for s in pathlib.Path(f"/proc/{daemon.pid}/status").read_text().splitlines() if s.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def test_memory_returned(tap, world):
    """A large host that was shown leaves nothing behind."""
    if SANITIZED:
        tap.skip("the memory of a large host is given back", "the sanitizers keep what was freed")
        return
    daemon = world.daemon(world.host(many_domains(1)))
    with world.connect() as bus:
        def load(n_domains):
            world.host(many_domains(n_domains, n_nodes=64, cpus_per_node=4, n_vcpus=8))
            daemon.signal(signal.SIGHUP)
            wait_for(lambda: len(domids(bus)) == n_domains)
            status(bus)
            wait_for_generation(bus, 2)
            return resident_mib(daemon)

        first, large, last = load(6), load(8000), load(6)
    figures = f"{first:.1f}, {large:.1f}, {last:.1f} MiB"
    tap.note(figures)
    tap.ok(large > first + 16, "8,000 domains take memory", figures)
    tap.ok(last < first + 4, "the memory of a large host is given back", figures)


run_tests(test_reload, test_topology_changed, test_reload_storm, test_fifo, test_forged_lines, test_memory_returned)
