#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A promise and its domain: which one is meant, how long the promise lives, and what is counted while it is built."""
from placing import *  # noqa: F403

TTL = 2000
PAGES = GIB // 4096  # of the request
G1 = "11111111-2222-3333-4444-555555555555"  # the UUID of domain 1 of four_nodes()


def over_ttl():
    time.sleep(TTL / 1000 + 1.5)


def start(world, host=None):
    guests = Guests(world, host)
    guests.daemon = start_daemon(world, "[daemon]\ninterval_ms = 100\n", guests.path())
    return guests


def shown(bus):
    """(domid, expires_ms is known) of each reservation."""
    return sorted(((r["domid"], r["expires_ms"] is not None) for r in status(bus)["reservations"]), key=str)


def promise(bus, memory=GIB, **more):
    return place(bus, vcpus=1, memory=memory, type="pv", ttl_ms=TTL, nodes=[2], strict=True, **more)[0]


def build(tap, bus, guests, token, what, **identity):
    """From the promise to the whole domain: nothing is counted twice, nothing is free too early."""
    before = available(bus)
    guests.set(bus, 20, [0, 0, 0, 0], **identity)
    tap.equal(shown(bus), [(20, False)], f"{what}: the domain is found, the TTL runs no more")
    over_ttl()
    tap.equal(shown(bus), [(20, False)], f"{what}: it lives beyond its TTL")
    tap.equal(available(bus), before, f"{what}: and holds what is not built yet")
    for pages in PAGES // 3, 2 * PAGES // 3, PAGES - 1:
        guests.set(bus, 20, [0, 0, pages, 0], **identity)
        tap.equal((available(bus), reserved(bus)[2]), (before, GIB + MIB - pages * 4096),
                  f"{what}: {pages} pages are there and are not counted twice")
    guests.set(bus, 20, [0, 0, PAGES + 256, 0], **identity)
    tap.equal((available(bus), reserved(bus)[2]), (before, 0), f"{what}: all is there, overhead too")
    guests.set(bus, 20, [5, 0, PAGES + 1256, 0], **identity)
    tap.equal(reserved(bus)[2], 0, f"{what}: what it holds beyond its promise does not make room")
    commit(bus, token, 20)
    tap.equal((shown(bus), domain(bus, 20)["placement"]), ([], {"token": token, "nodes": [2], "kept": True}),
              f"{what}: Commit ends it")
    guests.end(bus, 20)
    tap.equal((domain(bus, 20), error_of(release, bus, token) in (UNKNOWN_TOKEN, EXPIRED)), (None, True),
              f"{what}: with the domain the placement goes")


def test_by_uuid(tap, world):
    guests = start(world)
    with world.connect() as bus:
        build(tap, bus, guests, promise(bus, uuid=new_uuid_of(1)), "by UUID", uuid=new_uuid_of(1), name="whatever")


def new_uuid_of(n):
    return f"6a9c2a4e-0000-4000-8000-{n:012x}"


def test_by_name(tap, world):
    guests = start(world)
    with world.connect() as bus:
        build(tap, bus, guests, promise(bus, name="new guest"), "by name", name="new guest", uuid=new_uuid_of(2))


def test_elsewhere(tap, world):
    """Pages that went to another node do not lessen what is promised on this one."""
    guests = start(world)
    with world.connect() as bus:
        token = promise(bus, uuid=new_uuid_of(3))
        guests.set(bus, 20, [PAGES // 2, 0, 0, 0], uuid=new_uuid_of(3))
        tap.equal(reserved(bus), [0, 0, GIB + MIB, 0], "the promise stands")
        commit(bus, token, 20)
        tap.equal((reserved(bus), domain(bus, 20)["placement"]["kept"]), ([0] * 4, False), "until Commit, and is not kept")


def test_not_meant(tap, world):
    """Domains that are not the one that was asked for."""
    guests = start(world)
    with world.connect() as bus:
        listen(bus)
        promise(bus, uuid=new_uuid_of(4), name="mine")
        guests.set(bus, 21, [10, 0, 0, 0], uuid=new_uuid_of(5), name="mine")
        tap.equal(shown(bus), [(None, True)], "the same name, another UUID")
        tap.ok(bus.signal(INTERFACE, "ReservationExpired", PATIENCE), "so it expires")
        promise(bus)
        guests.set(bus, 22, [10, 0, 0, 0], uuid=new_uuid_of(6))
        tap.equal(shown(bus), [(None, True)], "who asked for nobody gets nobody")
        tap.ok(bus.signal(INTERFACE, "ReservationExpired", PATIENCE), "and expires, too")


def test_was_there(tap, world):
    """A domain that had the UUID or the name before is what is to be replaced: a reboot, a local migration."""
    for what, identity in (("UUID", {"uuid": G1}), ("name", {"name": "g1"})):
        guests = start(world)
        with world.connect() as bus:
            token = promise(bus, **identity)
            wait_for_generation(bus, 3)
            tap.equal(shown(bus), [(None, True)], f"{what}: the domain that was there before is not meant")
            guests.end(bus, 1)
            tap.equal(shown(bus), [(None, True)], f"{what}: nor is its end")
            guests.set(bus, 20, [0, 0, 10, 0], uuid=G1, name="g1")
            tap.equal(shown(bus), [(20, False)], f"{what}: the one that follows it is")
            over_ttl()
            tap.equal(shown(bus), [(20, False)], f"{what}: and keeps it")
            commit(bus, token, 20)
        guests.daemon.signal(signal.SIGTERM)
        guests.daemon.wait()
        shutil.rmtree(world.state())


def test_death(tap, world):
    """A build that ends with the domain's death gives all back."""
    guests = start(world)
    with world.connect() as bus:
        before = available(bus)
        token = promise(bus, uuid=new_uuid_of(7))
        guests.set(bus, 20, [0, 0, PAGES // 2, 0], uuid=new_uuid_of(7))
        over_ttl()
        guests.end(bus, 20)
        tap.equal((status(bus)["reservations"], reserved(bus), available(bus)), ([], [0] * 4, before), "nothing stays")
        tap.ok(error_of(commit, bus, token, 1) in (UNKNOWN_TOKEN, EXPIRED), "its token is of no more use")
        guests.set(bus, 21, [0, 0, 10, 0], uuid=new_uuid_of(7))
        tap.equal(status(bus)["reservations"], [], "also when a domain of that UUID comes later")


def test_replaced(tap, world):
    """Another domain took the id between two looks."""
    guests = start(world)
    with world.connect() as bus:
        token = promise(bus, uuid=new_uuid_of(8))
        guests.set(bus, 20, [0, 0, 10, 0], uuid=new_uuid_of(8))
        tap.equal(shown(bus), [(20, False)], "its domain is there")
        guests.set(bus, 20, [0, 0, 10, 0], uuid=new_uuid_of(9))
        tap.equal(status(bus)["reservations"], [], "a domain of another UUID with its id is not it: it has died")
        token = promise(bus, uuid=new_uuid_of(10))
        guests.set(bus, 23, [0, 0, PAGES, 0], uuid=new_uuid_of(10))
        commit(bus, token, 23)
        guests.set(bus, 23, [0, 0, PAGES, 0], uuid=new_uuid_of(11))
        tap.equal(domain(bus, 23)["placement"], None, "nor does it inherit a placement")


def test_twice(tap, world):
    """Two promises for one UUID: the domain has one, the other expires."""
    guests = start(world)
    with world.connect() as bus:
        listen(bus)
        tokens = [place(bus, vcpus=1, memory=GIB // 4, type="pv", ttl_ms=4000, nodes=[2], strict=True, uuid=new_uuid_of(12))[0]
                  for _ in range(2)]
        tap.ok(tokens[0] != tokens[1] and len(status(bus)["reservations"]) == 2, "each is a promise of its own")
        guests.set(bus, 20, [0, 0, PAGES // 4, 0], uuid=new_uuid_of(12))
        tap.equal([r for r in shown(bus) if r[0] is not None], [(20, False)], "the domain is one's only")
        tap.equal(reserved(bus)[2], GIB // 4 + 2 * MIB, "and its pages lessen one promise, not both")
        expired = bus.signal(INTERFACE, "ReservationExpired", PATIENCE)
        tap.ok(expired and expired[0] in tokens, "the other expires", expired)
        left, = [t for t in tokens if t != expired[0]]
        commit(bus, left, 20)
        tap.equal(domain(bus, 20)["placement"]["token"], left, "the one that is left can be committed")


def test_dom0(tap, world):
    """Domain 0 and a name that several have."""
    guests = start(world)
    with world.connect() as bus:
        promise(bus, GIB // 4, name="Domain-0")
        wait_for_generation(bus, 3)
        tap.equal(shown(bus), [(None, True)], "domain 0 is never what was asked for")
        promise(bus, GIB // 4, name="twin")
        guests.host["domains"] += [guest(30, [0, 0, 1, 0], name="twin"), guest(31, [0, 0, 1, 0], name="twin")]
        guests.show(bus)
        tap.equal(len([r for r in shown(bus) if r[0] in (30, 31)]), 1, "of two with the name one is taken, once")


run_tests(test_by_uuid, test_by_name, test_elsewhere, test_not_meant, test_was_there, test_death, test_replaced, test_twice,
          test_dom0)
