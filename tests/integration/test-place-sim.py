#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Placements on a simulated host whose domains are really started: the memory goes where it was promised."""
import random
import threading

from placing import *  # noqa: F403

FAST = "[daemon]\ninterval_ms = 100\n"
RARE = "[daemon]\ninterval_ms = 3600000\n"  # decisions alone look at the host
UUID = "6a9c2a4e-0000-4000-8000-00000000000{}"


def memory_of(bus, domid):
    return [(m["node"], m["bytes"]) for m in domain(bus, domid)["memory"]["nodes"]]


def free(bus):
    return [node["memory"]["free"] for node in status(bus)["nodes"]]


def scrubbed(bus):
    """Xen gives memory that is clean before what it must scrub first, wherever that lies."""
    return not any(node["memory"]["dirty"] for node in status(bus)["nodes"])


def test_as_placed(tap, world):
    """Place, start, commit: of every size and type, on one node and on several."""
    start_daemon(world, FAST, four_nodes(node_extra=[{"low": 0, "dirty": 0}] * 4))
    with world.connect() as bus:
        listen(bus)
        before = free(bus)
        for keys in ({"vcpus": 2, "memory": 700 * MIB, "type": "pv"}, {"vcpus": 1, "memory": 3 * GIB, "type": "pvh"},
                     {"vcpus": 4, "memory": GIB + 4096, "type": "hvm"}, {"vcpus": 2, "memory": GIB, "policy": "interleave"}):
            token, placement = place(bus, uuid=new_uuid(), **keys)
            domid = create(bus, token=token, **({"type": keys["type"]} if "type" in keys else {}))
            wait_for_generation(bus, 2)
            tap.equal([(r["domid"], r["expires_ms"]) for r in reservations(bus).values()], [(domid, None)], f"{keys}: its domain is found")
            commit(bus, token, domid)
            wait_for_generation(bus, 2)
            tap.equal((sum(b for _, b in memory_of(bus, domid)), [n for n, _ in memory_of(bus, domid)]),
                      (keys["memory"], placement["nodes"]), f"{keys}: the memory is on the promised nodes")
            tap.ok(all(abs(a - b) <= 2 * MIB for (_, a), (_, b) in zip(memory_of(bus, domid), placement["memory"])),
                   f"{keys}: as much on each as was said", (memory_of(bus, domid), placement["memory"]))
            tap.equal(domain(bus, domid)["placement"], {"token": token, "nodes": placement["nodes"], "kept": True}, f"{keys}: kept")
            tap.equal(bus.signal(INTERFACE, "DomainPlaced", PATIENCE), [domid, token], f"{keys}: and told")
            destroy(bus, domid)
            tap.ok(wait_for(lambda: domain(bus, domid) is None and free(bus) == before and scrubbed(bus)),
                   f"{keys}: its end gives all back", (free(bus), before))


def test_half_built(tap, world):
    """A build that stands still for longer than the TTL."""
    start_daemon(world, FAST)
    with world.connect() as bus:
        before = available(bus)
        token, placement = place(bus, vcpus=1, memory=GIB, type="pv", uuid=UUID.format(1), ttl_ms=1500)
        node = placement["nodes"][0]
        promised = available(bus)
        fault(bus, "stop-build", bytes=GIB // 4)
        domid = create(bus, token=token, type="pv")
        time.sleep(3)
        tap.equal([(r["domid"], r["expires_ms"]) for r in reservations(bus).values()], [(domid, None)], "it lives beyond its TTL")
        tap.equal(available(bus), promised, "what is built already is not counted twice")
        tap.ok(reserved(bus)[node] <= GIB * 3 // 4 + 2 * MIB and reserved(bus)[node] < GIB, "what is reserved is what is missing", reserved(bus))
        other, elsewhere = place(bus, vcpus=1, memory=promised[node], type="pv")
        tap.ok(elsewhere["nodes"] != [node], "nobody else gets what is left for it", elsewhere)
        release(bus, other)
        fault(bus, "resume-build", domid=domid)
        wait_for_generation(bus, 2)
        tap.equal(memory_of(bus, domid), [(node, GIB)], "the build goes on to its end")
        tap.ok(promised[node] - MIB <= available(bus)[node] <= promised[node], "and only what Xen needs beside counts twice until Commit",
               (available(bus), promised))
        commit(bus, token, domid)
        destroy(bus, domid)
        tap.ok(wait_for(lambda: available(bus) == before), "all is back", (available(bus), before))


def test_failed_build(tap, world):
    """A build that fails leaves the promise to its TTL, or to the next try."""
    start_daemon(world, FAST)
    with world.connect() as bus:
        before = available(bus)
        token, _ = place(bus, vcpus=1, memory=GIB, type="pv", uuid=UUID.format(2), ttl_ms=60000)
        fault(bus, "fail-build", bytes=GIB // 2)
        tap.ok(failure(create, bus, token=token, type="pv")[0], "the build fails")
        time.sleep(0.5)
        gone = token not in reservations(bus)
        tap.ok(gone or reservations(bus)[token]["domid"] is None, "the promise has no domain any more", reservations(bus))
        if not gone:
            domid = create(bus, token=token, type="pv")
            commit(bus, token, domid)
            destroy(bus, domid)
        tap.ok(wait_for(lambda: available(bus) == before), "nothing stays behind", (available(bus), before))


def test_death_half_built(tap, world):
    start_daemon(world, FAST)
    with world.connect() as bus:
        listen(bus)
        before = available(bus)
        token, _ = place(bus, vcpus=1, memory=GIB, type="pv", name="mortal")
        fault(bus, "stop-build", bytes=GIB // 4)
        domid = create(bus, token=token, type="pv")
        tap.ok(wait_for(lambda: reservations(bus).get(token, {}).get("domid") == domid), "found by its name")
        destroy(bus, domid)
        tap.ok(wait_for(lambda: available(bus) == before and not reservations(bus)), "its death frees the promise",
               (available(bus), reservations(bus)))
        tap.equal(bus.signal(INTERFACE, "ReservationExpired", PATIENCE), [token], "and is told")
        tap.equal(failure(commit, bus, token, domid)[0], EXPIRED, "Commit: it has ended")


def test_fresh_numbers(tap, world):
    """What nobody told the daemon of is seen by the next decision, not by the next collection."""
    start_daemon(world, RARE)
    with world.connect() as bus:
        fault(bus, "take", node=0, bytes=2 * GIB - 64 * MIB)
        _, placement = place(bus, vcpus=1, memory=GIB, type="pv", nodes=[0])
        tap.ok(placement["nodes"] != [0], "memory that is gone is not promised", placement)
        tap.equal(free(bus)[0], 64 * MIB, "and shown from then on")
        tap.equal(failure(place, bus, vcpus=1, memory=GIB, type="pv", nodes=[0], strict=True)[0], NOFIT, "strict hears so")
        fault(bus, "give", node=0, bytes=2 * GIB - 64 * MIB)
        _, placement = place(bus, vcpus=1, memory=GIB, type="pv", nodes=[0], strict=True)
        tap.equal(placement["nodes"], [0], "memory that came back is")
        token, _ = place(bus, vcpus=1, memory=MIB, type="pv", uuid=UUID.format(3))
        domid = create(bus, token=token, type="pv")
        tap.equal(failure(commit, bus, token, domid)[0], None, "Commit knows a domain that came this moment")
        destroy(bus, domid)
        tap.ok(failure(commit, bus, token, domid)[0] in (UNKNOWN_DOMAIN, UNKNOWN_TOKEN, EXPIRED), "and one that went")


def test_unreadable(tap, world):
    """When the host does not tell its numbers nothing is promised; what ends a promise goes on."""
    daemon = start_daemon(world, RARE)
    with world.connect() as bus:
        token, _ = place(bus, vcpus=1, memory=MIB, type="pv")
        fault(bus, "read", call="memory", errno=5, times=1)
        name, text = failure(place, bus, vcpus=1, memory=MIB, type="pv")
        tap.ok(name and name not in (NOFIT, INVALID) and text, "Place fails, and why", (name, text))
        tap.equal(list(reservations(bus)), [token], "nothing is promised")
        fault(bus, "read", call="memory", errno=5, times=1)
        tap.equal(failure(release, bus, token)[0], None, "Release goes on")
        tap.equal((reservations(bus), failure(place, bus, vcpus=1, memory=MIB, type="pv")[0]), ({}, None), "then all is well")
        tap.ok(daemon.running(), "the daemon lives")


def test_lost_events(tap, world):
    """Domains that come and go unheard: collections find them."""
    start_daemon(world, FAST)
    with world.connect() as bus:
        fault(bus, "lose-events")
        token, _ = place(bus, vcpus=1, memory=GIB, type="pv", uuid=UUID.format(4), ttl_ms=3000)
        domid = create(bus, token=token, type="pv")
        time.sleep(4)
        tap.equal([r["domid"] for r in reservations(bus).values()], [domid], "one that came is found in time")
        destroy(bus, domid)
        tap.ok(wait_for(lambda: not reservations(bus)), "one that went, too")


def test_host_claims(tap, world):
    """While a build stands still its host-wide claim is not promised to others either."""
    start_daemon(world, FAST)
    with world.connect() as bus:
        room = sum(available(bus))
        fault(bus, "stop-build", bytes=MIB)
        create(bus, vcpus=1, memory=6 * GIB, type="pv")
        wait_for_generation(bus, 2)
        tap.ok(sum(available(bus)) > room - GIB, "a claim that names no node lessens no node", available(bus))
        name, text = failure(place, bus, vcpus=1, memory=3 * GIB, type="pv")
        tap.ok(name == NOFIT and "claim" in text, "but the host", (name, text))
        tap.equal(failure(place, bus, vcpus=1, memory=GIB, type="pv")[0], None, "what is left is promised")


def test_storm(tap, world):
    """Many toolstacks at once: place, start, commit; every page where it was promised, nothing reserved in the end."""
    start_daemon(world, FAST)
    failed = []

    def toolstack(seed):
        try:
            with world.connect() as bus:
                for i in range(3):
                    token, placement = place(bus, vcpus=1, memory=(100 + 13 * seed + i) * MIB, type="pv", uuid=new_uuid())
                    domid = create(bus, token=token, type="pv")
                    commit(bus, token, domid)
                    wait_for(lambda: domid in [d[0] for d in call(bus, "ListDomains")[0]])
                    told = call(bus, "GetDomainMemory", "u", [domid])[0]
                    if [n for n, _ in told] != placement["nodes"]:
                        failed.append((placement, told))
                    destroy(bus, domid)
        except Exception as error:  # the test tells
            failed.append(repr(error))

    with world.connect() as bus:
        before = available(bus)
        threads = [threading.Thread(target=toolstack, args=(seed,)) for seed in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tap.equal(failed, [], "twelve toolstacks, three domains each: all pages are where they were promised")
        tap.ok(wait_for(lambda: available(bus) == before and not reservations(bus)), "and nothing stays reserved",
               (available(bus), before, reservations(bus)))


class Model:
    """What the tokens that were given out must have become."""

    def __init__(self, bus, seed):
        self.bus, self.random = bus, random.Random(seed)
        self.waiting, self.built, self.committed = {}, {}, {}  # by token: bytes, domid, domid
        self.faults = []

    def pick(self, tokens):
        return self.random.choice(sorted(tokens)) if tokens else None

    def place(self):
        size = self.random.choice([4096, MIB, 77 * MIB, 500 * MIB + 4096, 3 * GIB])
        try:
            token, placement = place(self.bus, vcpus=self.random.randint(1, 4), memory=size, uuid=new_uuid(), type="pv",
                                     policy=self.random.choice(["balance", "pack", "interleave", "any"]))
            self.waiting[token] = size
            if sum(b for _, b in placement["memory"]) != size:
                self.faults.append(placement)
        except BusError as error:
            if error.name != NOFIT:
                self.faults.append(repr(error))

    def create(self):
        token = self.pick(self.waiting)
        if token:
            self.waiting.pop(token)
            domid = self.built[token] = create(self.bus, token=token, type="pv")
            wait_for(lambda: reservations(self.bus)[token]["domid"] == domid)  # one that nobody has seen may end unseen, too

    def commit(self):
        token = self.pick(self.built)
        if token:
            self.committed[token] = self.built.pop(token)
            commit(self.bus, token, self.committed[token])

    def release(self):
        token = self.pick([*self.waiting, *self.built, *self.committed])
        if token:
            release(self.bus, token)
            domid = self.built.pop(token, None) or self.committed.pop(token, None)
            self.waiting.pop(token, None)
            if domid:
                destroy(self.bus, domid)

    def destroy(self):
        token = self.pick([*self.built, *self.committed])
        if token:
            destroy(self.bus, self.built.pop(token, None) or self.committed.pop(token, None))

    def check(self):
        """The status tells what the model has."""
        document = status(self.bus)
        shown = {r["token"]: r["domid"] for r in document["reservations"]}
        placed = {d["placement"]["token"]: d["domid"] for d in document["domains"] if d["placement"]}
        # What Xen needs beside is no page of the domain, so it is set aside until Commit though it is taken already.
        building = sum(r["overhead"] for r in document["reservations"] if r["domid"] is not None)
        self.compare("reservations", shown, {**dict.fromkeys(self.waiting), **self.built})
        self.compare("placements", placed, {**self.built, **self.committed})
        for node in document["nodes"]:
            memory = node["memory"]
            self.compare("available", memory["available"], max(0, memory["free"] - memory["reserved"]))
            if memory["reserved"] > memory["free"] + building:
                self.faults.append(("promised twice", memory, building))

    def compare(self, what, got, wanted):
        if got != wanted:
            self.faults.append((what, got, wanted))


def test_random(tap, world):
    """Hundreds of steps in any order: the books are right after each few, and empty in the end."""
    start_daemon(world, FAST + "[placement]\ngather_ms = 0\n", four_nodes(node_extra=[{"low": 0, "dirty": 0}] * 4))
    for seed in 1, 2, 3:
        with world.connect() as bus:
            before = available(bus)
            model = Model(bus, seed)
            for i in range(120):
                model.random.choice([model.place] * 4 + [model.create] * 2 + [model.commit, model.release, model.destroy])()
                if i % 10 == 9:
                    wait_for_generation(bus, 2)
                    model.check()
            tap.equal(model.faults[:2], [], f"seed {seed}: the status tells what was done")
            while model.waiting or model.built or model.committed:
                model.release()
            tap.ok(wait_for(lambda: available(bus) == before and not reservations(bus)), f"seed {seed}: nothing stays",
                   (available(bus), before, reservations(bus)))


def old_numbers(tap, world, what, host, prepare, n_rounds):
    """Collections are under way all the time; a promise whose domain came since they began does not end with them."""
    start_daemon(world, FAST + "[placement]\ngather_ms = 0\n", host)
    errors = collections.Counter()
    with world.connect() as bus:
        prepare(bus)
        for _ in range(n_rounds):
            time.sleep(0.15)  # the next collection has begun
            token, _ = place(bus, vcpus=1, memory=MIB, type="pv", uuid=new_uuid())
            domid = create(bus, token=token, type="pv")
            explain(bus, vcpus=1, memory=MIB)
            other, _ = place(bus, vcpus=1, memory=MIB, type="pv")  # a decision sees the new domain
            release(bus, other)
            wait_for_generation(bus)  # and a collection that did not comes to its end
            errors[failure(commit, bus, token, domid)[0]] += 1
            destroy(bus, domid)
    tap.equal(dict(errors), {None: n_rounds}, f"{what}: every promise lives to its Commit")


def test_old_numbers(tap, world):
    old_numbers(tap, world, "slow collections", four_nodes(), lambda bus: fault(bus, "slow", ms=300), 12)


def test_old_numbers_of_many(tap, world):
    old_numbers(tap, world, "thousands of domains", many_domains(3000, 16, 16), lambda bus: None, 12)


run_tests(test_as_placed, test_half_built, test_failed_build, test_death_half_built, test_fresh_numbers, test_unreadable,
          test_lost_events, test_host_claims, test_storm, test_random, test_old_numbers, test_old_numbers_of_many)
