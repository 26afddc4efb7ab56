#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests that come together are decided together; none is lost, answered twice, or held up by somebody else."""
import threading

from placing import *  # noqa: F403

# MiB and vCPUs of twelve domains that are started at once, as the lab's storm does.
STORM = [(1200, 2), (900, 2), (700, 2), (600, 1), (500, 2), (500, 1), (400, 1), (400, 2), (300, 1), (300, 1), (256, 1), (256, 1)]
MANY = "[limits]\nrequests_per_s = 100000\nreservations = 10000\nper_uid = 10000\n"
SMALL = {"vcpus": 1, "memory": MIB, "type": "pv"}


def settings(gather_ms, gather_max_ms, more=MANY):
    return f"[placement]\ngather_ms = {gather_ms}\ngather_max_ms = {gather_max_ms}\n{more}"


def timed(function, *arguments, **options):
    start = time.monotonic()
    function(*arguments, **options)
    return time.monotonic() - start


def test_lone(tap, world):
    """Who asks alone does not wait for others."""
    start_daemon(world, settings(5000, 10000))
    with world.connect() as bus:
        for i in range(5):
            start = time.monotonic()
            token, _ = place(bus, **SMALL)
            took = time.monotonic() - start
            tap.ok(took < 2.5, f"request {i} alone: at once", f"{took:.3f} s")
            tap.ok(timed(release, bus, token) < 2.5, f"release {i}: at once")
        failure(place, bus, vcpus=1, memory=1 << 50)
        failure(place, bus, vcpus=0, memory=1)
        tap.ok(timed(explain, bus, **SMALL) < 2.5, "Explain: at once")
        start = time.monotonic()
        token, _ = place(bus, **SMALL)
        tap.ok(time.monotonic() - start < 2.5, "after requests that were refused: at once")
        tap.ok(timed(commit, bus, token, 1) < 2.5, "Commit: at once")
        tap.ok(timed(place, bus, **SMALL) < 2.5, "when all that was promised is committed: at once")
        start = time.monotonic()
        serial = send_place(bus, **SMALL)
        tap.ok(timed(explain, bus, **SMALL) < 2.5, "Explain does not wait for those that are gathered")
        bus.answer(serial)
        took = time.monotonic() - start
        tap.ok(took >= 4.5, "while another's domain is not there yet: gathered", f"{took:.3f} s")


def storm(world, sizes):
    """Token and placement of each, all asked at once from connections of their own."""
    connections = [world.connect() for _ in sizes]
    serials = [send_place(bus, vcpus=vcpus, memory=mib * MIB, type="pvh") for bus, (mib, vcpus) in zip(connections, sizes)]
    answers = [tuple(bus.answer(serial)) for bus, serial in zip(connections, serials)]
    for bus in connections:
        bus.close()
    return answers


def sums(answers):
    """Memory promised by node, without overhead."""
    total = [0] * 4
    for _, placement in answers:
        for node, n_bytes in placement["memory"]:
            total[node] += n_bytes
    return total


def spread(answers):
    """How many are on more nodes than one."""
    return sum(len(placement["nodes"]) > 1 for _, placement in answers)


def test_storm(tap, world):
    """Twelve at once: each on one node, whatever the order they come in, and no byte twice."""
    start_daemon(world, settings(300, 3000))
    with world.connect() as bus:
        free = available(bus)
        for what, sizes in (("largest first", STORM), ("smallest first", STORM[::-1]), ("mixed", STORM[::2] + STORM[1::2])):
            answers = storm(world, sizes)
            tap.equal(spread(answers), 0, f"{what}: each is on one node")
            tap.equal(len({token for token, _ in answers}), 12, f"{what}: each has a token of its own")
            overhead = sum(placement["overhead"] for _, placement in answers)
            held = reserved(bus)
            tap.equal(sum(held), sum(mib for mib, _ in STORM) * MIB + overhead, f"{what}: all is set aside")
            tap.ok(all(p <= h <= f for p, h, f in zip(sums(answers), held, free)), f"{what}: no node promises more than it has",
                   (sums(answers), held, free))
            tap.ok(all(sum(v[2] != "" for v in p["vcpus"]) == vcpus for (_, p), (_, vcpus) in zip(answers, sizes)),
                   f"{what}: everyone got what he asked for")
            for token, _ in answers:
                release(bus, token)
            tap.equal(reserved(bus), [0] * 4, f"{what}: and all is given back")


def test_one_by_one(tap, world):
    """What gathering is good for: the same twelve, one by one in a bad order. What is left is in pieces: Xen would take
    equal parts of two nodes, one of which has promised most of its part to others."""
    start_daemon(world, settings(0, 0))
    with world.connect() as bus:
        free, answers, refused = available(bus), [], 0
        for mib, vcpus in STORM[::-1]:
            try:
                answers.append(place(bus, vcpus=vcpus, memory=mib * MIB, type="pvh"))
            except BusError as error:
                tap.equal(error.name, NOFIT, "one that no node holds any more is refused")
                refused += 1
        tap.ok(spread(answers) + refused > 0, "one by one, the smallest first: not each gets a node", [p["nodes"] for _, p in answers])
        tap.ok(all(promised <= had for promised, had in zip(reserved(bus), free)), "and no node promises more than it has")


def test_more_than_there_is(tap, world):
    """Far more than the host has, at once: what is promised fits, all else is refused."""
    start_daemon(world, settings(100, 1000))
    with world.connect() as bus:
        free = available(bus)
        serials = [send_place(bus, vcpus=1, memory=(100 + i) * MIB, type="pv") for i in range(100)]
        errors = collections.Counter(error_of(bus.answer, serial) for serial in serials)
        tap.ok(set(errors) == {None, NOFIT} and errors[None] >= 35, "some are placed, some refused", errors)
        tap.equal(len(reservations(bus)), errors[None], "who was answered has a reservation, nobody else")
        tap.ok(all(r <= f for r, f in zip(reserved(bus), free)) and min(available(bus)) >= 0, "and no node has promised too much",
               (reserved(bus), free))


def test_gather_ms(tap, world):
    start_daemon(world, settings(400, 1200))
    with world.connect() as bus:
        place(bus, **SMALL)  # from now on nobody is alone
        took = timed(place, bus, **SMALL)
        tap.ok(0.35 < took < 1.5, "one alone waits for gather_ms", f"{took:.3f} s")
    with CountingConnection(world.address) as bus:
        sent = {}
        for _ in range(25):
            sent[send_place(bus, **SMALL)] = time.monotonic()
            bus.read_for(0.2)
        for serial in sent:
            bus.answer(serial)
        waited = [bus.came[serial] - start for serial, start in sent.items()]
        tap.ok(max(waited) < 2.2, "while others go on coming nobody waits much longer than gather_max_ms", waited)
        tap.ok(max(waited) > 0.8, "each puts the decision off", waited)
        batches = sum(later - earlier > 0.1 for earlier, later in zip(sorted(bus.came.values()), sorted(bus.came.values())[1:]))
        tap.ok(2 <= batches <= 12, "so they are decided together", batches)


def test_sender_gone(tap, world):
    """Who does not wait for the answer has nothing reserved."""
    start_daemon(world, settings(1000, 2000))
    with world.connect() as bus:
        first, _ = place(bus, **SMALL)
        gone = world.connect()
        send_place(gone, vcpus=1, memory=100 * MIB, type="pv", name="gone")
        gone.driver("GetId")  # the bus has it
        gone.close()
        token, _ = place(bus, vcpus=1, memory=50 * MIB, type="pv")
        tap.equal(set(reservations(bus)), {first, token}, "gone while others are waited for: nothing is reserved")
        tap.equal(sum(reserved(bus)), 53 * MIB - MIB + MIB, "nor counted")
        release(bus, first)
        release(bus, token)
        for i in range(40):  # asked alone, so decided at once: before, while and after its sender goes
            with world.connect() as gone:
                send_place(gone, ttl_ms=3000, **SMALL)
                time.sleep(0.0005 * (i % 5))
        left = len(reservations(bus))  # who goes while the answer is on its way to him
        tap.ok(left <= 8, "gone at any time: hardly anything stays reserved", left)
        tap.ok(wait_for(lambda: not reservations(bus), 20), "and that ends with its time", reservations(bus))
        tap.equal(reserved(bus), [0] * 4, "nor counted")
        tap.equal(failure(place, bus, **SMALL)[0], None, "and the next one is placed")


def test_gone_behind_answers(tap, world):
    """Gone while the daemon builds long answers for others, which its request waits behind."""
    host = many_domains(4096, 16, 16)
    for domain_row in host["domains"]:
        domain_row["node_pages"] = [7] * 16
        domain_row["total_pages"] = 7 * 16
    start_daemon(world, settings(0, 0), host)
    with world.connect() as bus, world.connect() as reader:
        for i in range(4):
            with world.connect() as gone:
                release(gone, place(gone, **SMALL)[0])  # the daemon knows who that is
                serials = [reader.send(NAME, PATH, INTERFACE, "GetStatus") for _ in range(3)]
                send_place(gone, **SMALL)
                gone.driver("GetId")
            for serial in serials:
                reader.answer(serial)
            tap.equal(len(reservations(bus)), 0, f"gone behind {i + 1}: nothing is reserved")


def test_others_flood(tap, world):
    """What anybody may ask, asked by several users as fast as they may, neither refuses nor delays who may place."""
    users = [entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid != 0][:4]  # the bus asks who they are
    if os.geteuid() != 0 or len(users) < 4:
        tap.skip("other users' floods", "needs root, to become other users, and four of them")
        return
    start_daemon(world, "[placement]\ngather_ms = 0\ngather_max_ms = 0\n", many_domains(1000))
    keys = [request(vcpus=4, memory=GIB)]

    def flood():
        asked = 0
        with world.connect() as bus:
            start = time.monotonic()
            while time.monotonic() < start + 5:
                serials = [bus.send(NAME, PATH, INTERFACE, "Explain", "a{sv}", keys) for _ in range(150)]
                for serial in serials:
                    error_of(bus.answer, serial)
                asked += len(serials)
        return asked

    asked = []
    floods = [threading.Thread(target=lambda uid=uid: asked.append(as_user(uid, flood))) for uid in users]
    for thread in floods:
        thread.start()
    took, errors = [], collections.Counter()
    with world.connect() as bus:
        while any(thread.is_alive() for thread in floods):
            start = time.monotonic()
            try:
                release(bus, place(bus, **SMALL)[0])
            except BusError as error:
                errors[error.name] += 1
            took.append(time.monotonic() - start)
            time.sleep(0.01)
    for thread in floods:
        thread.join()
    tap.ok(len(asked) == 4 and min(asked) > 150, "four users ask as fast as they may", asked)
    tap.equal(errors, {}, "root is never refused")
    tap.ok(len(took) > 10 and sorted(took)[len(took) // 2] < 0.5, "and is answered soon", (len(took), sorted(took)[-5:]))


def test_slow_reader(tap, world):
    """Somebody who asks and does not read holds nobody up."""
    daemon = start_daemon(world, settings(0, 0))
    with CountingConnection(world.address) as slow, world.connect() as bus:
        keys = [request(**SMALL)]
        for _ in range(3000):
            slow.send(NAME, PATH, INTERFACE, "Explain", "a{sv}", keys)
        placed = [send_place(slow, vcpus=1, memory=4096, type="pv") for _ in range(300)]
        took = []
        for _ in range(20):
            start = time.monotonic()
            token, _ = place(bus, **SMALL)
            release(bus, token)
            took.append(time.monotonic() - start)
        tap.ok(max(took) < 10, "others are answered", sorted(took)[-3:])
        tap.ok(sorted(took)[10] < 1, "most of them soon", sorted(took))
        if not SANITIZED:
            tap.ok(memory_mib(daemon) < 40, "his answers do not pile up here", memory_mib(daemon))
        tap.ok(wait_for(lambda: slow.read_for(0.1) or sum(slow.counted.values()) >= 3301), "he can still read them all",
               sum(slow.counted.values()))
        done = sum(error_of(slow.answer, serial) is None for serial in placed)
        tap.equal(len(reservations(bus)), done, "and what he was told is so")


def workers(world, n, n_rounds, stop=None):
    """Places and releases from so many connections at once; the unexpected errors."""
    failed = []

    def work(seed):
        try:
            with world.connect() as bus:
                for i in range(n_rounds):
                    if stop and stop.is_set():
                        return
                    token, placement = place(bus, vcpus=1 + seed % 2, memory=(1 + (seed * 7 + i) % 50) * MIB, type="pv")
                    if sum(b for _, b in placement["memory"]) != (1 + (seed * 7 + i) % 50) * MIB:
                        failed.append(placement)
                    if i % 5:
                        release(bus, token)
                    else:
                        commit_and_release(bus, token)
        except Exception as error:  # the test tells
            failed.append(repr(error))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(n)]
    for thread in threads:
        thread.start()
    return threads, failed


def commit_and_release(bus, token):
    """Domain 7 has at most one placement: who comes second is refused, which is right."""
    with contextlib.suppress(BusError):
        commit(bus, token, 7)
    release(bus, token)


def test_reload_under_load(tap, world):
    host = four_nodes()
    daemon = start_daemon(world, settings(20, 100), host)
    config = world.directory / "numad-xend.conf"
    threads, failed = workers(world, 8, 40)
    reloads = 0
    with world.connect() as bus:
        while any(t.is_alive() for t in threads):
            config.write_text(settings(20 + reloads % 3 * 10, 100, MANY + f"[daemon]\ninterval_ms = {100 + reloads % 7}\n"))
            reloads += reload(daemon, "reloaded")
        for thread in threads:
            thread.join()
        tap.equal(failed, [], "every request is answered as it should be")
        tap.ok(reloads >= 5, "while settings and host are read again", reloads)
        tap.equal((reservations(bus), reserved(bus), domain(bus, 7)["placement"]), ({}, [0] * 4, None), "and nothing stays")


def test_answered_once(tap, world):
    """Hundreds from several at once: each gets one answer, and what was promised is there."""
    start_daemon(world, settings(50, 200))
    connections = [CountingConnection(world.address) for _ in range(5)]
    serials = [(bus, send_place(bus, vcpus=1, memory=(1 + (i * 37) % 60) * MIB, type="pv")) for i in range(60) for bus in connections]
    tokens, errors = set(), collections.Counter()
    for bus, serial in serials:
        try:
            tokens.add(bus.answer(serial)[0])
        except BusError as error:
            errors[error.name] += 1
    time.sleep(0.5)
    with world.connect() as bus:
        document = status(bus)
        tap.ok(set(errors) <= {NOFIT} and len(tokens) + errors[NOFIT] == 300, "each is answered", errors)
        tap.equal({r["token"] for r in document["reservations"]}, tokens, "what was answered is reserved, nothing else")
        tap.equal(document["stats"]["placements"]["placed"], len(tokens), "and counted")
        releases = [(connections[i % 5], connections[i % 5].send(NAME, PATH, INTERFACE, "Release", "s", [token]))
                    for i, token in enumerate(tokens)]
        tap.equal({error_of(c.answer, serial) for c, serial in releases}, {None}, "all are released")
        tap.equal(reservations(bus), {}, "and gone")
    for bus in connections:
        bus.read_for(0.2)
        bus.close()
    wrong = [n for bus in connections for n in bus.counted.values() if n != 1]
    tap.equal(wrong, [], "no call has two answers")


def test_too_many(tap, world):
    """More than may wait: the others hear so at once, and those that wait are decided."""
    start_daemon(world, settings(3000, 6000))
    with world.connect() as bus:
        place(bus, **SMALL)
        serials = [send_place(bus, vcpus=1, memory=4096, type="pv") for _ in range(3000)]
        errors = collections.Counter(error_of(bus.answer, serial) for serial in serials)
        tap.ok(set(errors) == {None, LIMIT_REACHED} and errors[None] >= 100, "some are placed, the others hear LimitReached", errors)
        tap.equal(len(reservations(bus)), errors[None] + 1, "and those that are placed are reserved")


def test_terminated(tap, world):
    """SIGTERM while requests wait: it ends at once, nobody has been promised anything that is not there later."""
    daemon = start_daemon(world, settings(10000, 20000))
    with world.connect() as bus, world.connect() as other:
        token, _ = place(bus, **SMALL)
        waiting = [(c, send_place(c, **SMALL)) for c in (bus, other, other)]
        explain(bus, **SMALL)
        explain(other, **SMALL)  # the daemon has all of them
        start = time.monotonic()
        daemon.signal(signal.SIGTERM)
        tap.equal(daemon.wait(), 0, "it ends with 0")
        tap.ok(time.monotonic() - start < 5, "at once", time.monotonic() - start)
        errors = [error_of(c.answer, serial) for c, serial in waiting]
        tap.ok(all(errors), "who waited hears that there is no answer", errors)
        start_daemon(world, settings(0, 0))
        tap.equal(list(reservations(bus)), [token], "what was answered is there after the next start, nothing else")


run_tests(test_lone, test_storm, test_one_by_one, test_more_than_there_is, test_gather_ms, test_sender_gone,
          test_gone_behind_answers, test_others_flood, test_slow_reader, test_reload_under_load, test_answered_once, test_too_many, test_terminated)
