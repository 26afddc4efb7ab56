#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Place, Commit, Release, Explain and their signals: what they answer, what the status shows, what becomes of a promise."""
import re

from placing import *  # noqa: F403

U1 = "6a9c2a4e-0001-4000-8000-00000000abcd"
PVH = {"vcpus": 2, "memory": GIB, "type": "pvh"}
OVERHEAD = 2 * MIB + 1024 * 4096  # of PVH: a MiB a vCPU, and a page for each MiB


def test_answer(tap, world):
    """Every key with its type and its value, on a host of which all is known."""
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        bus.typed = True
        token, typed = place(bus, name="x", uuid=U1, **PVH)
        tap.ok(re.fullmatch("[0-9a-f]{32}", token), "the token is 128 bits in hexadecimal", token)
        tap.equal({k: v[0] for k, v in typed.items()}, {k: t for k, t in PLACEMENT_TYPES.items() if k != "extent_order"},
                  "each key has its type; an extent order that is not known is left out")
        got = {k: v[1] for k, v in typed.items()}
        expires = got.pop("expires_ms")
        reason = got.pop("reason")
        tap.equal(got, {"nodes": [0], "memory": [(0, GIB)], "overhead": OVERHEAD, "expected_locality": 1.0,
                        "vcpus": [(0, "0-7", "0-1"), (1, "0-7", "0-1")]}, "the values")
        tap.ok(55000 < expires <= 60000, "it expires in a minute", expires)
        tap.ok(reason and "\n" not in reason, "the reason is one sentence", reason)
        second, _ = place(bus, **PVH)
        tap.ok(second != token, "no two tokens are the same")
        _, typed = place(bus, vcpus=2, memory=3 * GIB, type="pv", ttl_ms=5000)
        tap.equal((typed["nodes"], sum(b for _, b in typed["memory"][1]), len(typed["memory"][1])),
                  (("au", [1, 3]), 3 * GIB, 2), "what no node holds is divided over two, and adds up")
        tap.equal(typed["overhead"], ("t", 2 * MIB), "a PV guest's overhead")
        tap.ok(4000 < typed["expires_ms"][1] <= 5000, "its own TTL holds", typed["expires_ms"])


def test_extent_order(tap, world):
    host = four_nodes(features=["node-pages", "node-memory", "free-chunks"])
    host["node_extra"] = [{"low": 0, "dirty": 0, "free_chunks": [0] * 18 + [2]} for _ in range(4)]
    world.daemon(world.host(host))
    with world.connect() as bus:
        bus.typed = True
        typed = place(bus, **PVH)[1]
        tap.equal({k: v[0] for k, v in typed.items()}, PLACEMENT_TYPES, "every key there is")
        tap.ok(9 <= typed["extent_order"][1] <= 18, "the extent order is one that there is", typed["extent_order"])


def test_ratio(tap, world):
    """A ratio has six decimals, as in the documents."""
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        keys = {"vcpus": 6, "memory": 600 * MIB, "type": "pv", "policy": "interleave", "nodes": [0, 1, 2]}
        _, placement = place(bus, **keys)
        tap.equal((placement["expected_locality"], explain(bus, **keys)["expected_locality"]), (0.333333, 0.333333), "a third")


def test_status(tap, world):
    """A promise is shown at once: on its node, in the list, until it ends."""
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        before = available(bus)
        token, placement = place(bus, name='odd "name" \\ \u20ac', uuid=U1.upper(), **PVH)
        document = status(bus)
        tap.equal([n["memory"]["reserved"] for n in document["nodes"]], [GIB + OVERHEAD, 0, 0, 0],
                  "reserved: memory and overhead, at once")
        tap.equal([n["memory"]["available"] for n in document["nodes"]], [before[0] - GIB - OVERHEAD, *before[1:]],
                  "available: so much less")
        reservation, = document["reservations"]
        expires = reservation.pop("expires_ms")
        tap.equal(reservation, {"token": token, "name": 'odd "name" \\ \u20ac', "uuid": U1, "domid": None,
                                "memory": [{"node": 0, "bytes": GIB}], "overhead": OVERHEAD}, "the reservation")
        tap.ok(abs(expires - placement["expires_ms"]) < 2000 and expires <= 60000, "its time runs", (expires, placement))
        tap.ok(wait_for(lambda: reservations(bus)[token]["expires_ms"] <= expires - 1000), "and falls")
        tap.ok(reservations(bus)[token]["expires_ms"] > expires - 30000, "no faster than time")
        other, _ = place(bus, **PVH)
        tap.equal(set(reservations(bus)), {token, other}, "another one is listed beside it")
        tap.equal([(r["name"], r["uuid"]) for t, r in reservations(bus).items() if t == other], [(None, None)],
                  "without a name and a UUID")
        stats = status(bus)["stats"]
        tap.equal(stats["placements"], {"placed": 2, "nofit": 0, "invalid": 0, "limit": 0}, "both are counted")
        tap.ok(stats["placement_seconds"]["count"] == 2 and stats["placement_seconds"]["sum"] > 0, "and timed", stats)
        release(bus, token)
        release(bus, other)
        tap.equal((available(bus), reserved(bus), reservations(bus)), (before, [0] * 4, {}), "Release gives all back at once")


def test_counted(tap, world):
    start_daemon(world, "[limits]\nreservations = 1\n")
    with world.connect() as bus:
        failure(place, bus, vcpus=1, memory=1 << 50)
        failure(place, bus, vcpus=0, memory=1)
        failure(place, bus, vcpus=1, memory=1, colour=("s", "blue"))
        token, _ = place(bus, vcpus=1, memory=MIB)
        failure(place, bus, vcpus=1, memory=MIB)
        failure(explain, bus, vcpus=1, memory=1 << 50)
        wait_for_generation(bus)
        tap.equal(status(bus)["stats"]["placements"], {"placed": 1, "nofit": 1, "invalid": 2, "limit": 1},
                  "the outcomes of Place are counted, Explain's are not")
        release(bus, token)


def test_explain(tap, world):
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        before = available(bus)
        document = explain(bus, name="x", uuid=U1, **PVH)
        tap.equal((document["format"], document["token"], document["expires_ms"]), ("numad-xen-placement/1", None, None),
                  "Explain: a placement document, nothing expires")
        tap.equal((document["nodes"], document["memory"], document["vcpus"][1]),
                  ([0], [{"node": 0, "bytes": GIB}], {"vcpu": 1, "hard": "0-7", "soft": "0-1"}), "Explain: the answer")
        candidates = document["candidates"]
        tap.ok(1 <= len(candidates) <= 64 and candidates[0]["rank"] == 1 and candidates[0]["nodes"] == [0] and
               candidates[0]["fits"], "Explain: the best candidate is the answer", candidates[:2])
        tap.equal(sorted(c["rank"] for c in candidates), [c["rank"] for c in candidates], "Explain: best first")
        tap.equal((available(bus), status(bus)["reservations"]), (before, []), "Explain reserves nothing")
        tap.equal(explain(bus, **PVH)["nodes"], [0], "so the same is answered again")
        token, placement = place(bus, **PVH)
        tap.equal(placement["nodes"], document["nodes"], "and it is what Place answers")
        tap.equal(explain(bus, **PVH)["nodes"], [2], "Explain counts what is promised")
        name, text = failure(explain, bus, vcpus=1, memory=3 * GIB, strict=True)
        tap.ok(name == NOFIT and all(f"node {n}" in text for n in range(4)), "Explain of what does not fit is NoFit", text)
        tap.equal(failure(explain, bus, vcpus=0, memory=GIB)[0], INVALID, "Explain of nonsense is InvalidRequest")


def test_nofit(tap, world):
    host = four_nodes()
    host["nodes"][2]["free"] = 100 * MIB
    host["domains"][0]["vcpus"] *= 3
    world.daemon(world.host(host))
    with world.connect() as bus:
        name, text = failure(place, bus, vcpus=1, memory=3 * GIB, strict=True)
        tap.equal(name, NOFIT, "more than a node has, strict")
        tap.ok(text and re.search("node 0 .*short", text) and re.search("node 2 .*short", text), "the reason goes node by node", text)
        tap.ok(re.search("node 2 has 100(.0)?M", text), "and has the figures", text)
        name, text = failure(place, bus, vcpus=8, memory=GIB, strict=True)
        tap.ok(name == NOFIT and re.search("2 (cores|CPUs) for 8 vCPUs", text), "too many vCPUs for a node, strict", text)
        name, text = failure(place, bus, vcpus=1, memory=1 << 50)
        tap.ok(name == NOFIT and text, "more than the host has", (name, text))
        tap.equal((reserved(bus), status(bus)["reservations"]), ([0] * 4, []), "a refusal reserves nothing")
        tap.ok(wait_for(lambda: status(bus)["stats"]["placements"]["nofit"] == 3), "all are counted", status(bus)["stats"])
        room = sum(available(bus))
        name, text = failure(place, bus, vcpus=1, memory=room, type="pv")
        tap.equal(name, NOFIT, "the overhead has to fit, too")
        tap.equal(failure(place, bus, vcpus=1, memory=GIB, type="pv")[0], None, "less fits")


def test_keys(tap, world):
    """What each key changes."""
    gib = GIB
    host = four_nodes(devices=[{"pci": "0000:3b:00.0", "node": 3}],
                      pools=[{"pool": 0, "cpus": "0-5"}, {"pool": 5, "cpus": "6-7"}])
    for d in host["domains"]:
        for v in d["vcpus"]:
            v["hard"] = "0-5"
    host["domains"][0]["vcpus"][0]["soft"] = host["domains"][2]["vcpus"][0]["soft"] = "0-5"
    world.daemon(world.host(host))
    with world.connect() as bus:
        def nodes(**keys):
            return explain(bus, **{"vcpus": 1, "memory": gib, **keys})["nodes"]
        tap.equal(nodes(), [0], "nothing asked: the node with the least load")
        tap.equal(nodes(nodes=[2]), [2], "nodes")
        tap.equal(nodes(near="0000:3b:00.0", pool=5), [3], "near and pool")
        tap.equal(nodes(pool=5), [3], "pool")
        tap.equal(nodes(cpus="4"), [2], "cpus")
        tap.equal(explain(bus, vcpus=1, memory=gib, cpus="4")["vcpus"], [{"vcpu": 0, "hard": "4", "soft": "4"}],
                  "cpus is a hard set")
        tap.equal(explain(bus, vcpus=1, memory=gib, nodes=[2], strict=True)["vcpus"][0]["hard"], "4-5", "strict is hard")
        document = explain(bus, vcpus=2, memory=gib, policy="interleave", nodes=[0, 2])
        tap.equal(document["memory"], [{"node": 0, "bytes": gib // 2}, {"node": 2, "bytes": gib // 2}], "policy")
        tap.equal(explain(bus, vcpus=1, memory=gib, max_memory=2 * gib, type="pvh")["overhead"], MIB + 2048 * 4096,
                  "max_memory and type")
        soft = [v["soft"] for v in explain(bus, vcpus=2, memory=gib, threads_per_core=2)["vcpus"]]
        tap.ok(all(soft), "threads_per_core", soft)
        token, placement = place(bus, vcpus=1, memory=MIB, ttl_ms=1234, name="n", uuid=U1)
        tap.ok(placement["expires_ms"] <= 1234, "ttl_ms")
        tap.equal([(r["name"], r["uuid"]) for r in reservations(bus).values()], [("n", U1)], "name and uuid")


def test_commit(tap, world):
    """A token becomes a domain's placement; nothing is set aside any more."""
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus, world.connect() as other:
        listen(other)
        token, _ = place(bus, vcpus=2, memory=GIB, nodes=[1], strict=True)
        tap.equal(failure(commit, bus, token, 99)[0], UNKNOWN_DOMAIN, "Commit: a domain that is not there")
        tap.equal(failure(commit, bus, token, 2**32 - 1)[0], UNKNOWN_DOMAIN, "Commit: a domid that none can have")
        tap.equal(failure(commit, bus, "0" * 32, 1)[0], UNKNOWN_TOKEN, "Commit: a token that nobody got")
        for text, said in (("", ""), ("deadbeef", "deadbeef"), ("A" * 32, "A" * 32), ("0" * 33, "0" * 33), ("\x1b[31m", "?[31m"),
                           ("a" * 100000, "a" * 40 + "..."), ("\u20ac" * 30, "\u20ac" * 13 + "...")):
            wanted = UNKNOWN_TOKEN, f"'{said}' is no token"
            tap.equal((failure(commit, bus, text, 1), failure(release, bus, text)), (wanted, wanted), f"a token that is none: {text[:9]!r}")
        tap.equal(list(reservations(bus)), [token], "what is refused changes nothing")
        tap.equal(other.signal(INTERFACE, "DomainPlaced", 0.2), None, "and tells nobody")
        commit(bus, token, 1)
        tap.equal(other.signal(INTERFACE, "DomainPlaced", PATIENCE), [1, token], "DomainPlaced has domid and token")
        document = status(bus)
        tap.equal(([n["memory"]["reserved"] for n in document["nodes"]], document["reservations"]), ([0] * 4, []),
                  "nothing is reserved after Commit")
        tap.equal(domain(bus, 1)["placement"], {"token": token, "nodes": [1], "kept": True}, "the domain's placement")
        tap.equal(domain(bus, 7)["placement"], None, "no other domain has one")
        commit(bus, token, 1)
        tap.equal(domain(bus, 1)["placement"]["token"], token, "Commit again is no error and changes nothing")
        tap.equal(other.signal(INTERFACE, "DomainPlaced", 0.5), None, "nor is it told again")
        name, text = failure(commit, bus, token, 7)
        tap.ok(name == INVALID and text, "Commit: on another domain it is refused", (name, text))
        tap.equal((domain(bus, 1)["placement"]["token"], domain(bus, 7)["placement"]), (token, None), "and stays where it is")
        second, _ = place(bus, vcpus=1, memory=MIB)
        tap.equal(failure(commit, bus, second, 1)[0], INVALID, "Commit: a domain that has a placement gets no other")
        commit(bus, second, 7)
        tap.equal(other.signal(INTERFACE, "DomainPlaced", PATIENCE), [7, second], "two domains, two placements")
        third, _ = place(bus, vcpus=1, memory=MIB, uuid=U1)
        tap.equal(failure(commit, bus, third, 0)[0], INVALID, "Commit: a domain of another UUID is refused")


def test_not_kept(tap, world):
    """What a domain holds elsewhere than it was promised is no kept promise."""
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        token, _ = place(bus, vcpus=1, memory=GIB, nodes=[2], strict=True)
        commit(bus, token, 1)
        tap.equal(domain(bus, 1)["placement"], {"token": token, "nodes": [2], "kept": False}, "kept says so")


def test_release(tap, world):
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        token, _ = place(bus, **PVH)
        release(bus, token)
        tap.equal(failure(release, bus, token)[0], UNKNOWN_TOKEN, "Release twice: the token is gone")
        tap.equal(failure(commit, bus, token, 1)[0], UNKNOWN_TOKEN, "and cannot be committed")
        for what, text in (("empty", ""), ("short", token[:-1]), ("long", token + "0"), ("upper", token.upper()),
                           ("huge", "a" * MIB), ("odd", "\n\u20ac\t")):
            name, said = failure(release, bus, text)
            tap.ok(name == UNKNOWN_TOKEN and len(said) < 1000 and not re.search(r"[\n\t]", said), f"Release: {what}", said[:200])
        token, _ = place(bus, vcpus=1, memory=GIB, nodes=[1])
        commit(bus, token, 1)
        release(bus, token)
        tap.equal(domain(bus, 1)["placement"], None, "Release of a committed token ends the promise")
        tap.equal(failure(release, bus, token)[0], UNKNOWN_TOKEN, "once")
        again, _ = place(bus, vcpus=1, memory=GIB, nodes=[1])
        commit(bus, again, 1)
        tap.equal(domain(bus, 1)["placement"]["token"], again, "and the domain may get another")


def test_expires(tap, world):
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus, world.connect() as other:
        listen(other)
        start = time.monotonic()
        token, _ = place(bus, ttl_ms=1500, **PVH)
        stays, _ = place(bus, **PVH)
        tap.equal(other.signal(INTERFACE, "ReservationExpired", PATIENCE), [token], "ReservationExpired has the token")
        took = time.monotonic() - start
        tap.ok(took >= 1.4, "not before its time", took)
        tap.equal(list(reservations(bus)), [stays], "what has expired is listed no more, what has not is")
        tap.equal(sum(reserved(bus)), GIB + OVERHEAD, "and its memory is free again")
        name, text = failure(commit, bus, token, 1)
        tap.ok(name == EXPIRED and text, "Commit: it has expired", (name, text))
        tap.equal(failure(release, bus, token)[0], EXPIRED, "Release: it has expired")
        release(bus, stays)
        tap.equal(other.signal(INTERFACE, "ReservationExpired", 0.5), None, "what is released does not expire")


def test_many_expire(tap, world):
    """Several at once are each told."""
    start_daemon(world)
    with world.connect() as bus:
        listen(bus)
        tokens = {place(bus, vcpus=1, memory=MIB, ttl_ms=1000 + 100 * i)[0] for i in range(8)}
        told = {(bus.signal(INTERFACE, "ReservationExpired", PATIENCE) or [None])[0] for _ in range(8)}
        tap.equal(told, tokens, "each is told once")
        tap.equal((status(bus)["reservations"], reserved(bus)), ([], [0] * 4), "and nothing stays")


def test_limits(tap, world):
    start_daemon(world, "[limits]\nreservations = 3\nper_uid = 2\n")
    with world.connect() as bus:
        first, _ = place(bus, vcpus=1, memory=MIB)
        second, _ = place(bus, vcpus=1, memory=MIB)
        name, text = failure(place, bus, vcpus=1, memory=MIB)
        tap.ok(name == LIMIT_REACHED and "2" in text, "per_uid: no more for one user, and how many", (name, text))
        tap.equal(explain(bus, vcpus=1, memory=MIB)["token"], None, "Explain goes on")
        release(bus, first)
        tap.equal(failure(place, bus, vcpus=1, memory=MIB)[0], None, "one less: one more")
        commit(bus, second, 1)
        tap.equal(failure(place, bus, vcpus=1, memory=MIB)[0], None, "a committed one counts no more")
        tap.equal(failure(place, bus, vcpus=1, memory=MIB)[0], LIMIT_REACHED, "then there are two again")


def test_limit_of_all(tap, world):
    start_daemon(world, "[limits]\nreservations = 2\nper_uid = 64\n")
    with world.connect() as bus:
        serials = [send_place(bus, vcpus=1, memory=MIB) for _ in range(10)]
        errors = [error_of(bus.answer, serial) for serial in serials]
        tap.equal((errors.count(None), errors.count(LIMIT_REACHED)), (2, 8), "reservations: that many, however they come")
        tap.equal(len(reservations(bus)), 2, "which there are")


def test_rate(tap, world):
    start_daemon(world, "[limits]\nrequests_per_s = 20\n")
    with world.connect() as bus:
        time.sleep(1.2)
        keys = request(vcpus=1, memory=MIB)
        serials = [bus.send(NAME, PATH, INTERFACE, "Explain", "a{sv}", [keys]) for _ in range(100)]
        errors = [error_of(bus.answer, serial) for serial in serials]
        tap.ok(20 <= errors.count(None) <= 60 and set(errors) == {None, LIMIT_REACHED}, "requests_per_s bounds Explain",
               collections.Counter(errors))


run_tests(test_answer, test_extent_order, test_ratio, test_status, test_counted, test_explain, test_nofit, test_keys, test_commit,
          test_not_kept, test_release, test_expires, test_many_expire, test_limits, test_limit_of_all, test_rate)
