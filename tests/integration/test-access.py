#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may ask, how often, and several at once."""
import threading

from world import *  # noqa: F403

LIMIT_REACHED = NAME + ".Error.LimitReached"
DENIED = "org.freedesktop.DBus.Error.AccessDenied"
LIMIT = 200  # requests a second


def test_unprivileged(tap, world):
    if os.geteuid() != 0:
        tap.skip("another user reads", "needs root, to become another user")
        return
    world.daemon(world.host(four_nodes()))

    def reads():
        with world.connect() as bus:
            return [status(bus)["format"], json.loads(call(bus, "GetTopology")[0])["format"],
                    len(call(bus, "ListDomains")[0]), call(bus, "GetDomainMemory", "u", [7])[0], get(bus, "Nodes"),
                    len(bus.call(NAME, PATH, PROPERTIES, "GetAll", "s", [INTERFACE])[0]),
                    INTERFACE in bus.call(NAME, PATH, "org.freedesktop.DBus.Introspectable", "Introspect")[0],
                    bus.call(NAME, PATH, "org.freedesktop.DBus.Peer", "Ping")]

    tap.equal(as_user(NOBODY, reads), ["numad-xen-status/1", "numad-xen-topology/1", 3, [[0, 4096], [3, 8192]], 4, 6,
                                       True, []], "another user reads everything")

    def others():
        with world.connect() as bus:
            owner, = bus.driver("GetNameOwner", "s", [NAME])
            return [error_of(bus.call, *target) for target in (
                (NAME, PATH, INTERFACE, "Gather"),
                (owner, PATH, INTERFACE, "Gather"),
                (NAME, PATH, PROPERTIES, "Set", "ssv", [INTERFACE, "Nodes", ("u", 1)]),
                (NAME, PATH, "org.numadxen.NumadXen1.Sim", "Destroy", "u", [1]))]

    tap.equal(as_user(NOBODY, others), [DENIED] * 4, "and the bus refuses him everything else")


def test_signals_unprivileged(tap, world):
    if os.geteuid() != 0:
        tap.skip("another user hears signals", "needs root, to become another user")
        return
    host = four_nodes()
    daemon = world.daemon(world.host(host))
    host["nodes"][0]["distances"][3] = 40
    world.host(host)

    def listens():
        with world.connect() as bus:
            bus.driver("AddMatch", "s", [f"type='signal',sender='{NAME}'"])
            return bool(bus.signal(INTERFACE, "TopologyChanged", PATIENCE))

    timer = threading.Timer(1.0, daemon.signal, [signal.SIGHUP])
    timer.start()
    tap.ok(as_user(NOBODY, listens), "another user hears signals")
    timer.join()


def pipelined(bus, member, n):
    """Errors of n calls that are all sent before the first answer is read."""
    serials = [bus.send(NAME, PATH, INTERFACE, member) for _ in range(n)]
    return [error_of(bus.answer, serial) for serial in serials]


def test_rate_limit(tap, world):
    world.daemon(world.host(four_nodes()))
    with world.connect() as one, world.connect() as two:
        start = time.monotonic()
        errors = pipelined(one, "GetStatus", LIMIT * 2)
        seconds = time.monotonic() - start
        passed = errors.count(None)
        tap.ok(LIMIT <= passed <= LIMIT * (1 + seconds) + 2, "a second's worth of requests passes at once",
               f"{passed} in {seconds:.2f} s")
        tap.equal(set(errors), {None, LIMIT_REACHED}, "the others hear LimitReached")
        errors = pipelined(two, "GetTopology", 50)
        tap.ok(errors.count(LIMIT_REACHED) > 10, "the limit is the user's, not the connection's", errors)
        tap.equal(set(pipelined(one, "ListDomains", LIMIT * 2)), {None}, "ListDomains is not limited")
        if os.geteuid() == 0:
            tap.equal(as_user(NOBODY, lambda: error_of(status, world.connect())), None, "another user is not held up")
        else:
            tap.skip("another user is not held up", "needs root, to become another user")
        time.sleep(0.5)
        passed = pipelined(one, "GetStatus", LIMIT).count(None)
        tap.ok(passed >= LIMIT // 4, "time gives requests back", passed)


def test_new_connections(tap, world):
    """Each connection is asked about once; more of them than are remembered, one after the other and together."""
    world.daemon(world.host(four_nodes()))
    errors = []
    for _ in range(150):
        with world.connect() as bus:
            errors.append(error_of(call, bus, "GetStatus"))
    tap.equal([e for e in errors if e], [], "150 connections one after the other")
    time.sleep(1.1)
    connections = [world.connect() for _ in range(150)]
    serials = [(bus, bus.send(NAME, PATH, INTERFACE, "GetStatus")) for bus in connections]
    tap.equal([e for e in (error_of(bus.answer, serial) for bus, serial in serials) if e], [], "150 together")
    time.sleep(1.1)
    for bus in connections:  # gone before they are answered
        bus.send(NAME, PATH, INTERFACE, "GetStatus")
        bus.close()
    with world.connect() as bus:
        tap.equal(error_of(call, bus, "ListDomains"), None, "callers that go away hold nothing up")


def reader(world, seconds, results):
    """Reads as fast as the limit allows, on a busy machine for longer; (answers, refusals, generations that went
    backwards)."""
    answers = refusals = backwards = generation = 0
    start = time.monotonic()
    with world.connect() as bus:
        while time.monotonic() < start + (seconds if answers >= 10 else 10 * seconds):
            try:
                document = status(bus)
            except BusError as error:
                if error.name != LIMIT_REACHED:
                    raise
                refusals += 1
                time.sleep(0.01)
                continue
            answers += 1
            backwards += document["generation"] < generation or len(document["domains"]) != 1000
            generation = document["generation"]
    results.append((answers, refusals, backwards))


def test_two_readers(tap, world):
    daemon = world.daemon(world.host(many_domains(1000)))
    results = []
    threads = [threading.Thread(target=reader, args=(world, 4, results)) for _ in range(2)]
    with world.connect() as bus:
        before = get(bus, "Generation")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = get(bus, "Generation") - before
    tap.equal(len(results), 2, "two readers at once get to the end")
    tap.ok(all(answers >= 10 for answers, *_ in results), "both are answered all the time", results)
    tap.equal([r[2] for r in results], [0, 0], "every answer is whole and no older than the one before")
    tap.ok(taken >= 3, "and collecting goes on", taken)
    tap.ok(daemon.running(), "the daemon lives")


def peak_mib(daemon):
    line, = (s for s in pathlib.Path(f"/proc/{daemon.pid}/status").read_text().splitlines() if s.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def test_memory_bound(tap, world):
    """Answers of a megabyte to a bus that is slow to take them do not pile up in the daemon."""
    daemon = world.daemon(world.host(many_domains(1000)))
    with world.connect() as bus:
        size = len(call(bus, "GetStatus")[0])
        time.sleep(1.1)
        before = peak_mib(daemon)
        daemon.signal(signal.SIGSTOP)
        serials = [bus.send(NAME, PATH, INTERFACE, "GetStatus") for _ in range(190)]
        serials += [bus.send(NAME, PATH, INTERFACE, "ListDomains") for _ in range(50)]
        bus.driver("GetId")  # all of them are with the daemon now
        world.bus.signal(signal.SIGSTOP)
        daemon.signal(signal.SIGCONT)
        time.sleep(2)
        after = peak_mib(daemon)
        world.bus.signal(signal.SIGCONT)
        tap.equal({error_of(bus.answer, serial) for serial in serials}, {None}, "everyone is answered in the end")
    if SANITIZED:
        tap.skip("memory stays bounded", "the sanitizers keep what was freed")
    else:
        tap.ok(after - before < 4 * size / (1 << 20) + 2, "memory stays bounded",
               f"{before:.1f} to {after:.1f} MiB, an answer has {size / (1 << 20):.1f} MiB")


run_tests(test_unprivileged, test_signals_unprivileged, test_rate_limit, test_new_connections, test_two_readers,
          test_memory_bound)
