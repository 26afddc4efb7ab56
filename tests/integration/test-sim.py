#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The simulated host: its interface, what it refuses and to whom, its faults, and numad-xen sim."""
import xml.etree.ElementTree as ElementTree

from placing import *  # noqa: F403

NUMAD_XEN = str(os.environ.get("NUMAD_XEN") or BUILD / "numad-xen")
FAILED = "org.freedesktop.DBus.Error.Failed"
RARE = "[daemon]\ninterval_ms = 3600000\n"  # only events bring collections
FAST = "[daemon]\ninterval_ms = 100\n"


def cli(world, *arguments):
    out = subprocess.run([NUMAD_XEN, "--bus", world.address, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return out.returncode, out.stdout, out.stderr


def members(text):
    interface = ElementTree.fromstring(text).find(f"interface[@name='{SIM}']")
    return interface and sorted((m.get("name"), *((a.get("name"), a.get("type"), a.get("direction")) for a in m.findall("arg")))
                                for m in interface.findall("method"))


def node_bytes(bus, domid):
    shown = domain(bus, domid)
    return shown and {m["node"]: m["bytes"] for m in shown["memory"]["nodes"]}


def free(bus):
    return [node["memory"]["free"] for node in status(bus)["nodes"]]


def ranges(numbers):
    """["0-1", "3"] of [0, 1, 3]"""
    out = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return [f"{a}-{b}" if a < b else str(a) for a, b in out]


def balloon(bus, domid, size):
    sim(bus, "Balloon", "ut", domid, size)


def has_maximum(bus, domid, size):
    return failure(balloon, bus, domid, size + 4096)[0] == INVALID and failure(balloon, bus, domid, size)[0] is None


def test_interface(tap, world):
    world.daemon(world.host(four_nodes()))
    wanted = members((SOURCE / "proto/org.numadxen.NumadXen1.Sim.xml").read_text())
    tap.equal([m[0] for m in wanted], ["Balloon", "Create", "Destroy", "Fault"], "the description has the methods")
    with world.connect() as bus:
        xml, = bus.call(NAME, PATH, "org.freedesktop.DBus.Introspectable", "Introspect")
    tap.equal(members(xml), wanted, "the running daemon agrees with proto/")
    printed = subprocess.run([world.program(), "--bus-introspect"], capture_output=True, text=True, check=True).stdout
    tap.ok(members(printed) is None, "a daemon that has no simulated host has not got it", printed)


def test_events(tap, world):
    """Domains that come and go are seen at once, whatever the interval."""
    start_daemon(world, RARE)
    with world.connect() as bus:
        before = free(bus)
        domid = create(bus, memory=600 * MIB, vcpus=2, type="pv", name="one", node_affinity="2", soft="4-5", state="paused")
        tap.equal(domid, 8, "domids go upward from the highest")
        tap.ok(wait_for(lambda: domain(bus, domid) is not None), "it is seen")
        shown = domain(bus, domid)
        tap.equal((shown["name"], shown["type"], shown["state"], shown["vcpus"], shown["node_affinity"], shown["pool"]),
                  ("one", "pv", "paused", 2, "2", 0), "as it was asked for")
        tap.equal([(v["hard"], v["soft"], v["online"]) for v in shown["vcpu_affinity"]], [("0-7", "4-5", True)] * 2,
                  "its vCPUs, too")
        tap.ok(shown["uuid"], "with a UUID", shown)
        tap.equal((node_bytes(bus, domid), shown["locality"]), ({2: 600 * MIB}, 1.0), "its memory is on its node")
        tap.equal(free(bus), [before[0], before[1], before[2] - 602 * MIB, before[3]], "with what Xen needs beside")
        destroy(bus, domid)
        tap.ok(wait_for(lambda: domain(bus, domid) is None), "its end is seen")
        tap.equal(free(bus), before, "and gives all back")
        tap.equal(create(bus, memory=MIB, vcpus=1), 9, "its id is not given again")


def test_balloon(tap, world):
    start_daemon(world, FAST)
    with world.connect() as bus:
        domid = create(bus, memory=GIB, max_memory=2 * GIB, vcpus=1, type="pvh", node_affinity="0-1")
        balloon(bus, domid, GIB // 2)
        tap.ok(wait_for(lambda: node_bytes(bus, domid) == {0: GIB // 2}), "down: from its highest node", domain(bus, domid))
        balloon(bus, domid, 2 * GIB)
        tap.ok(wait_for(lambda: node_bytes(bus, domid) == {0: GIB * 5 // 4, 1: GIB * 3 // 4}), "up: from both in turn",
               domain(bus, domid))
        tap.equal(failure(balloon, bus, domid, 3 * GIB)[0], INVALID, "not beyond its maximum")
        tap.equal(failure(balloon, bus, domid, 0)[0], INVALID, "not to nothing")
        tap.equal(failure(balloon, bus, 99, GIB)[0], UNKNOWN_DOMAIN, "not one that is not there")


def test_refusals(tap, world):
    start_daemon(world)
    long = "n" * 70000
    good = {"memory": ("t", MIB), "vcpus": ("u", 1)}
    with world.connect() as bus:
        before = status(bus)["domains"]
        for error, text, keys in (
                (INVALID, "memory", {"memory": ("t", 0)}), (INVALID, "memory", {"memory": ("t", (1 << 56) + 1)}),
                (INVALID, "memory", {"memory": ("u", 4096)}), (INVALID, "memory", {"memory": None}),
                (INVALID, "max_memory", {"max_memory": ("t", MIB - 1)}), (INVALID, "vcpus", {"vcpus": ("u", 0)}),
                (INVALID, "vcpus", {"vcpus": ("u", 8193)}), (INVALID, "vcpus", {"vcpus": None}),
                (INVALID, "name", {"name": ("s", "")}), (INVALID, "name", {"name": ("s", "n" * 256)}),
                (INVALID, "name", {"name": ("s", long)}), (INVALID, "uuid", {"uuid": ("s", "x")}),
                (INVALID, "type", {"type": ("s", "lxc")}), (INVALID, "state", {"state": ("s", "well")}),
                (INVALID, "pool", {"pool": ("u", 7)}), (INVALID, "hard", {"hard": ("s", "8")}),
                (INVALID, "soft", {"soft": ("s", "3-1")}), (INVALID, "node_affinity", {"node_affinity": ("s", "4")}),
                (INVALID, "colour", {"colour": ("s", "red")}), (UNKNOWN_TOKEN, "token", {"token": ("s", "none")}),
                (NOFIT, "memory", {"memory": ("t", 8 * GIB)}), (NOFIT, "memory", {"memory": ("t", 9 * GIB)})):
            values = [(k, v) for k, v in {**good, **keys}.items() if v]
            name, said = failure(sim, bus, "Create", "a{sv}", values)
            tap.ok(name == error and text in said, f"Create: {text} {str(keys[text] if text in keys else '')[:40]}", (name, said))
        twice = [("vcpus", ("u", 1)), ("vcpus", ("u", 2)), ("memory", ("t", MIB))]
        tap.equal(failure(sim, bus, "Create", "a{sv}", twice)[0], INVALID, "a key twice")
        tap.equal(failure(destroy, bus, 0)[0], INVALID, "dom0 is not destroyed")
        for domid in 99, 32752, 2**32 - 1:
            tap.equal(failure(destroy, bus, domid)[0], UNKNOWN_DOMAIN, f"there is no domain {domid}")
        for kind, keys in (("flood", {}), ("take", {"node": 1}), ("take", {"node": 9, "bytes": MIB}), ("slow", {"ms": 10**6}),
                           ("slow", {"ms": 1, "times": 2}), ("busy", {"on": 2}), ("read", {"call": "all"}), ("read", {"call": "memory", "errno": 0}),
                           ("resume-build", {"domid": 32752}), ("take", {"node": 0, "bytes": 2**56 + 1})):
            tap.equal(failure(fault, bus, kind, **keys)[0], INVALID, f"Fault: {kind} {keys}")
        tap.equal(failure(fault, bus, "resume-build", domid=99)[0], UNKNOWN_DOMAIN, "no build to resume")
        tap.equal(failure(fault, bus, "take", node=0, bytes=3 * GIB)[0], NOFIT, "not more is taken than there is")
        tap.equal(failure(fault, bus, "give", node=0, bytes=3 * GIB)[0], NOFIT, "or given")
        tap.equal(status(bus)["domains"], before, "and nothing has changed")


def test_vcpus(tap, world):
    """As many vCPUs as a domain can have, on a host of as many CPUs as it can have."""
    host = four_nodes(max_cpu_id=8191)
    host["nodes"][0].update(size=16 * GIB, free=10 * GIB)
    start_daemon(world, host=host)
    with world.connect() as bus:
        domid = create(bus, memory=MIB, vcpus=8192, type="pv")
        tap.ok(wait_for(lambda: domain(bus, domid) is not None, 30), "it is there")
        tap.equal(domain(bus, domid)["vcpus"], 8192, "with all of them")


def test_others(tap, world):
    """Who runs the daemon may; nobody else."""
    if os.geteuid() != 0:
        tap.skip("another user changes nothing", "needs root, to become another user")
        return
    start_daemon(world)

    def others():
        with world.connect() as bus:
            return [failure(create, bus, memory=MIB, vcpus=1)[0], failure(destroy, bus, 1)[0],
                    failure(balloon, bus, 1, MIB)[0], failure(fault, bus, "lose-events")[0]]

    tap.equal(as_user(NOBODY, others), [DENIED] * 4, "the policy keeps others off")
    (world.directory / "policy.conf").write_text((world.directory / "policy.conf").read_text().replace(
        "</busconfig>", f'<policy context="mandatory"><allow send_destination="{NAME}"/></policy></busconfig>'))
    with world.connect() as bus:
        bus.driver("ReloadConfig")
    tap.equal(as_user(NOBODY, others), [DENIED] * 4, "and where the policy does not, the daemon does")


def test_token(tap, world):
    start_daemon(world, FAST)
    with world.connect() as bus:
        uuid = new_uuid()
        token, placement = place(bus, vcpus=2, memory=GIB, name="placed", uuid=uuid, strict=True, type="pv")
        domid = create(bus, token=token, type="pv")
        tap.ok(wait_for(lambda: domain(bus, domid) is not None), "it is there")
        shown, node = domain(bus, domid), placement["nodes"][0]
        tap.equal((shown["name"], shown["uuid"], shown["vcpus"], shown["memory"]["total"]), ("placed", uuid, 2, GIB),
                  "as was placed")
        tap.equal({v["hard"] for v in shown["vcpu_affinity"]}, {f"{2 * node}-{2 * node + 1}"}, "strict: hard sets")
        tap.equal(shown["locality"], 1.0, "all is local")
        tap.ok(wait_for(lambda: reservations(bus)[token]["domid"] == domid), "its reservation knows it")
        tap.equal(failure(create, bus, token=token)[0], INVALID, "a token is for one domain")
        other, _ = place(bus, vcpus=1, memory=GIB, name="other")
        small = create(bus, token=other, memory=MIB, vcpus=3, name="small")
        tap.ok(wait_for(lambda: domain(bus, small) is not None), "another")
        tap.equal((domain(bus, small)["name"], domain(bus, small)["vcpus"], domain(bus, small)["memory"]["total"]),
                  ("small", 3, MIB), "what is given counts before what was placed")


def pooled():
    """Four nodes of eight CPUs, two of each core; the last node is a pool of its own."""
    host = four_nodes(threads_per_core=2, pools=[{"pool": 0, "cpus": "0-23"}, {"pool": 5, "cpus": "24-31"}])
    for i, node in enumerate(host["nodes"]):
        node["cpus"] = f"{8 * i}-{8 * i + 7}"
    return host


def test_token_sets(tap, world):
    """Each vCPU starts on the sets that the answer has for it, whatever they are."""
    start_daemon(world, FAST, pooled())
    with world.connect() as bus:
        for keys in ({"vcpus": 4}, {"vcpus": 4, "cpus": "0-3"}, {"vcpus": 2, "cpus": "1,9"}, {"vcpus": 3, "strict": True},
                     {"vcpus": 6, "strict": True, "nodes": [0, 1], "policy": "interleave"}, {"vcpus": 7, "threads_per_core": 2},
                     {"vcpus": 20, "threads_per_core": 2}, {"vcpus": 40}, {"vcpus": 40, "threads_per_core": 2}, {"vcpus": 9, "cpus": "4-7"},
                     {"vcpus": 2, "pool": 5}, {"vcpus": 12, "pool": 5}, {"vcpus": 3, "policy": "any"},
                     {"vcpus": 2, "type": "pvh", "max_memory": GIB}, {"vcpus": 6, "nodes": [0, 2], "policy": "interleave", "type": "hvm"}):
            token, placement = place(bus, memory=600 * MIB, uuid=new_uuid(), **keys)
            domid = create(bus, token=token)
            tap.ok(wait_for(lambda: domain(bus, domid) is not None), f"{keys}: it is there")
            shown = domain(bus, domid)
            tap.equal([(v["vcpu"], v["hard"], v["soft"]) for v in shown["vcpu_affinity"]], placement["vcpus"], f"{keys}: its vCPUs")
            tap.equal((shown["pool"], shown["type"]), (keys.get("pool", 0), keys.get("type")), f"{keys}: pool and type")
            tap.equal((shown["node_affinity"], sorted(node_bytes(bus, domid).items())),
                      (",".join(ranges(placement["nodes"])), placement["memory"]), f"{keys}: its memory")
            tap.ok(has_maximum(bus, domid, keys.get("max_memory", 600 * MIB)), f"{keys}: its maximum")
            destroy(bus, domid)
        tap.ok(wait_for(lambda: not reservations(bus)), "and all ended")
        token, placement = place(bus, memory=MIB, vcpus=4, threads_per_core=2, pool=5, type="pvh")
        domid = create(bus, token=token, hard="0-1", vcpus=5, pool=0, type="pv", max_memory=2 * MIB, node_affinity="0")
        tap.ok(wait_for(lambda: domain(bus, domid) is not None), "another")
        shown, soft = domain(bus, domid), [v[2] for v in placement["vcpus"]]
        tap.equal([(v["hard"], v["soft"]) for v in shown["vcpu_affinity"]], [("0-1", s) for s in [*soft, soft[-1]]],
                  "hard sets that are given take the place of those that were placed, and of those alone")
        tap.equal((shown["pool"], shown["type"], shown["node_affinity"]), (0, "pv", "0"), "so do pool, type and nodes")
        tap.ok(has_maximum(bus, domid, 2 * MIB), "and the maximum")


def test_token_survives(tap, world):
    """What was placed is read from the disk by the next daemon."""
    daemon = start_daemon(world, FAST, pooled())
    with world.connect() as bus:
        token, placement = place(bus, memory=600 * MIB, vcpus=5, threads_per_core=2, pool=5, type="pvh", max_memory=GIB)
    daemon.signal(signal.SIGKILL)
    daemon.wait()
    world.processes.remove(daemon)
    assert world.wait_for_name(owned=False)
    start_daemon(world, FAST, pooled())
    with world.connect() as bus:
        domid = create(bus, token=token)
        tap.ok(wait_for(lambda: domain(bus, domid) is not None), "it starts")
        shown = domain(bus, domid)
        tap.equal([(v["vcpu"], v["hard"], v["soft"]) for v in shown["vcpu_affinity"]], placement["vcpus"], "with the sets of each vCPU")
        tap.equal((shown["pool"], shown["type"]), (5, "pvh"), "pool and type")
        tap.ok(has_maximum(bus, domid, GIB), "and its maximum")


def test_builds(tap, world):
    """A build that stops, with its claim outstanding, and one that fails."""
    start_daemon(world, FAST, four_nodes(memory={"total": 16 * GIB, "free": 8 * GIB, "claimed": 0}))
    with world.connect() as bus:
        fault(bus, "stop-build", bytes=256 * MIB)
        domid = create(bus, memory=GIB, vcpus=1, type="pv", node_affinity="3")
        wait_for_generation(bus, 2)
        tap.equal((node_bytes(bus, domid), status(bus)["host"]["memory"]["claimed"]), ({3: 256 * MIB}, 768 * MIB),
                  "half built, the rest is claimed")
        tap.equal(failure(balloon, bus, domid, GIB)[0], INVALID, "no balloon while it is built")
        tap.equal(failure(create, bus, memory=7 * GIB + MIB, vcpus=1, type="pv")[0], NOFIT, "what is claimed is not for others")
        other = create(bus, memory=MIB, vcpus=1, type="pv")
        wait_for_generation(bus, 2)
        tap.equal(domain(bus, other)["memory"]["total"], MIB, "only one build was to stop")
        fault(bus, "resume-build", domid=domid)
        wait_for_generation(bus, 2)
        tap.equal((node_bytes(bus, domid), status(bus)["host"]["memory"]["claimed"]), ({3: GIB}, 0), "it goes on to its end")
        name, text = failure(fault, bus, "resume-build", domid=domid)
        tap.ok(name == INVALID and text.startswith("domid: ") and "not being built" in text, "and only once", (name, text))
        tap.equal(failure(fault, bus, "resume-build", domid=1)[0], INVALID, "nor does one that was there before")
        before = free(bus)
        fault(bus, "fail-build", bytes=256 * MIB)
        tap.equal(failure(create, bus, memory=GIB, vcpus=1)[0], FAILED, "a build fails")
        wait_for_generation(bus, 2)
        tap.equal((free(bus), status(bus)["host"]["memory"]["claimed"]), (before, 0), "and leaves nothing")
        create(bus, memory=GIB, vcpus=1)


def test_failed_readings(tap, world):
    daemon = start_daemon(world, FAST)
    with world.connect() as bus:
        fault(bus, "read", call="memory", errno=5, times=1)
        tap.ok(failure(place, bus, vcpus=1, memory=GIB)[0] is not None, "nothing is promised without numbers")
        tap.equal(reservations(bus), {}, "nothing is reserved")
        token, _ = place(bus, vcpus=1, memory=GIB)
        release(bus, token)
        wait_for_generation(bus, 2)
        errors = status(bus)["stats"]["collection_errors"]["xen"]
        fault(bus, "read", call="collection", errno=13, times=2)
        tap.ok(wait_for(lambda: "collection failed" in daemon.log()), "a collection fails and it is said", daemon.log())
        tap.ok("Permission denied" in daemon.log(), "and why")
        tap.ok(wait_for(lambda: "collecting works again" in daemon.log()), "until it works again")
        wait_for_generation(bus)
        tap.equal(status(bus)["stats"]["collection_errors"]["xen"], errors + 2, "the failures are counted")


def test_lost_events(tap, world):
    daemon = start_daemon(world, "[daemon]\ninterval_ms = 1500\n")
    with world.connect() as bus:
        fault(bus, "lose-events")
        tap.ok(wait_for(lambda: "domain events are lost" in daemon.log()), "it is said", daemon.log())
        wait_for_generation(bus, 2)
        domid = create(bus, memory=MIB, vcpus=1)
        tap.equal(domain(bus, domid), None, "a new domain is not seen at once")
        tap.ok(wait_for(lambda: domain(bus, domid) is not None), "but at the next interval")


def test_slow(tap, world):
    """While a collection takes long, answers do not."""
    start_daemon(world, FAST)
    with world.connect() as bus:
        fault(bus, "slow", ms=1500)
        wait_for_generation(bus, 2)
        before, begun = get(bus, "Generation"), time.monotonic()
        for _ in range(20):
            status(bus)
        token, _ = place(bus, vcpus=1, memory=GIB)
        tap.ok(time.monotonic() - begun < 1.4, "answers come meanwhile", time.monotonic() - begun)
        release(bus, token)
        fault(bus, "slow", ms=0)
        tap.ok(wait_for(lambda: get(bus, "Generation") > before + 10), "and it is quick again")


def test_dirty(tap, world):
    """What a domain leaves is scrubbed soon, unless all CPUs are busy: then the next one's memory is elsewhere."""
    start_daemon(world, FAST, four_nodes(node_extra=[{"dirty": 0}] * 4))

    def dirty():
        return [node["memory"]["dirty"] for node in status(bus)["nodes"]]

    def restart():
        destroy(bus, create(bus, memory=GIB, vcpus=1, type="pv", node_affinity="2"))

    with world.connect() as bus:
        tap.ok(wait_for(lambda: dirty() == [0] * 4), "all is scrubbed at first", dirty())
        fault(bus, "busy", on=1)
        restart()
        tap.ok(wait_for(lambda: dirty() == [0, 0, GIB + MIB, 0]), "a domain that ends leaves dirty memory", dirty())
        domid = create(bus, memory=3 * GIB // 2, vcpus=1, type="pv", node_affinity="2")
        tap.ok(wait_for(lambda: node_bytes(bus, domid) == {0: GIB // 2 + 2 * MIB, 2: GIB - 2 * MIB}),
               "another node's scrubbed memory goes before it", domain(bus, domid))
        destroy(bus, domid)
        fault(bus, "busy", on=0)
        tap.ok(wait_for(lambda: dirty() == [0] * 4), "idle CPUs scrub it", dirty())
        domid = create(bus, memory=3 * GIB // 2, vcpus=1, type="pv", node_affinity="2")
        tap.ok(wait_for(lambda: node_bytes(bus, domid) == {2: 3 * GIB // 2}), "then it is used", domain(bus, domid))


def test_reload(tap, world):
    """The file's host takes the place of what became of it."""
    daemon = start_daemon(world, FAST)
    with world.connect() as bus:
        before = free(bus)
        domid = create(bus, memory=GIB, vcpus=1)
        destroy(bus, 1)
        fault(bus, "take", node=0, bytes=MIB)
        tap.ok(wait_for(lambda: domain(bus, domid) is not None and domain(bus, 1) is None), "there it is")
        tap.ok(reload(daemon), "reload")
        tap.ok(wait_for(lambda: domain(bus, domid) is None and domain(bus, 1) is not None), "domains are the file's again")
        tap.equal(free(bus), before, "memory, too")
        (world.directory / "host.json").write_text("{")
        domid = create(bus, memory=GIB, vcpus=1)
        tap.ok(reload(daemon, "reload refused"), "a bad file is refused")
        tap.ok(wait_for(lambda: domain(bus, domid) is not None), "and what became of the host stays")


def test_cli(tap, world):
    start_daemon(world, FAST)
    tap.equal(cli(world, "sim", "create", "--memory", "600M", "--vcpus", 2, "--type", "pv", "--name", "a", "--node-affinity", 2),
              (0, "8\n", ""), "sim create prints the domid")
    with world.connect() as bus:
        tap.ok(wait_for(lambda: domain(bus, 8) is not None), "the domain is there")
        tap.equal((domain(bus, 8)["name"], node_bytes(bus, 8)), ("a", {2: 600 * MIB}), "as it was asked for")
        tap.equal(cli(world, "sim", "balloon", 8, "500M"), (0, "", ""), "sim balloon")
        tap.ok(wait_for(lambda: node_bytes(bus, 8) == {2: 500 * MIB}), "it has so much")
        tap.equal(cli(world, "sim", "fault", "take", "node=1", "bytes=1G"), (0, "", ""), "sim fault")
        tap.ok(wait_for(lambda: free(bus)[1] == GIB), "memory is gone")
        tap.equal(cli(world, "sim", "destroy", 8), (0, "", ""), "sim destroy")
        tap.ok(wait_for(lambda: domain(bus, 8) is None), "it is gone")
        token, _ = place(bus, vcpus=1, memory=GIB, type="pv")
        tap.equal(cli(world, "sim", "create", "--token", token, "--type", "pv"), (0, "9\n", ""), "sim create --token")
        tap.ok(wait_for(lambda: (domain(bus, 9) or {}).get("placement")), "commits it", status(bus))
    for arguments, code, said in (
            (("sim",), 2, "give create, destroy, balloon or fault"), (("sim", "grow"), 2, "'grow'"),
            (("sim", "destroy"), 2, "DOMID"), (("sim", "destroy", "x"), 2, "no domid"), (("sim", "destroy", "99"), 1, "no domain 99"),
            (("sim", "destroy", "1", "--vcpus", "1"), 2, "takes no options"), (("sim", "balloon", "1", "x"), 2, "'x'"),
            (("sim", "create", "--memory", "x"), 2, "'x'"), (("sim", "create", "--vcpus", "-1"), 2, "'-1'"),
            (("sim", "create", "--memory", "90G", "--vcpus", "1"), 3, "not so much memory"),
            (("sim", "create", "--vcpus", "1"), 1, "memory"), (("sim", "create", "1"), 2, "options alone"),
            (("sim", "fault"), 2, "KIND"), (("sim", "fault", "take", "node"), 2, "KEY=VALUE"),
            (("sim", "fault", "take", "node=x"), 2, "node"), (("sim", "fault", "take", "moon=x"), 1, "moon"),
            (("sim", "create", "--token", "none"), 1, "no such reservation"),
            (("sim", "destroy", "1", "--host", world.directory / "host.json"), 2, "--host")):
        code_, out, error = cli(world, *arguments)
        tap.ok((code_, out) == (code, "") and said in error, f"{' '.join(map(str, arguments[:4]))}: is refused", (code_, out, error))


run_tests(test_interface, test_events, test_balloon, test_refusals, test_vcpus, test_others, test_token, test_token_sets,
          test_token_survives, test_builds,
          test_failed_readings, test_lost_events, test_slow, test_dirty, test_reload, test_cli)
