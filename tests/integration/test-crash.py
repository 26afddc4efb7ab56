#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon is killed at every write, fsync, rename and reply of a sequence of requests, one after the other.

crash.c counts these points in a run that goes to its end, and kills the daemon at the n-th in the n-th of the others.
After each kill the ledger on the disk is looked at, a new daemon is started on it, and what it says is held against
what was answered: every promise that was told is there; the call that got no answer has happened wholly or not at all,
and what it reserved ends with its time; nothing else is there.
"""
import dataclasses

from placing import *  # noqa: F403

CRASH = BUILD / "tests/integration/.libs/crash.so"
TTL_MS = 10000
IN_TIME = 6  # seconds for one run, so that no reservation ends in its midst; a run that took longer is made again
TRIES = 5
SETTINGS = f"[daemon]\ninterval_ms = 100\n[placement]\nttl_ms = {TTL_MS}\ngather_ms = 20\n"
MEMORY = {"a": 64 * MIB, "b": 128 * MIB, "c": 256 * MIB, "d": 512 * MIB}
DOMID = 1  # of the simulated host; what is committed has to have one
GONE = ("org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.NameHasNoOwner")

# What is asked, in this order. The places of one step are sent at once, and decided together.
STEPS = (("place", "a"), ("commit", "a"), ("commit", "a"), ("place", "b"), ("place", "c", "d"), ("release", "b"),
         ("release", "a"), ("release", "c"))
# What a change does. The second commit changes nothing; two places at once are one change.
CHANGE = ("unlink", "create", "write", "fsync file", "rename", "fsync directory")


@dataclasses.dataclass
class Run:
    """What came of the requests of one daemon's life."""
    told: dict = dataclasses.field(default_factory=dict)  # name -> token, of what has to be there
    placed: dict = dataclasses.field(default_factory=dict)  # name -> whether it is committed
    unanswered: list = dataclasses.field(default_factory=list)  # (what, name)
    started: float = dataclasses.field(default_factory=time.monotonic)

    def apply(self, what, name, answer):
        if what == "place":
            self.told[name], _ = answer
            self.placed[name] = False
        elif what == "commit":
            self.placed[name] = True
        else:
            del self.told[name], self.placed[name]


def send(bus, run, what, name):
    if what == "place":
        return send_place(bus, vcpus=1, memory=MEMORY[name], name=name, type="pv")
    arguments = ("su", [run.told[name], DOMID]) if what == "commit" else ("s", [run.told[name]])
    return bus.send(NAME, PATH, INTERFACE, what.capitalize(), *arguments)


def ask(bus, run, what, *names):
    """Whether all were answered."""
    serials = {name: send(bus, run, what, name) for name in names}
    for name, serial in serials.items():
        try:
            answer = bus.answer(serial)
        except BusError as error:
            if error.name not in GONE:
                raise
            run.unanswered.append((what, name))
        else:
            run.apply(what, name, answer)
    return not run.unanswered


class Tester:
    def __init__(self, tap, world):
        self.tap = tap
        self.world = world
        self.config = world.directory / "crash.conf"
        self.config.write_text(SETTINGS)
        self.host = world.host(four_nodes())
        self.bus = world.connect()
        self.directories = 0
        self.open = []  # (name of the point, directory, Run, when) that hold what nobody was told of

    def owned(self):
        return self.bus.driver("NameHasOwner", "s", [NAME])[0]

    def start(self, directory, environment=None):
        daemon = self.world.start("--host", self.host, "--config", self.config, "--state-dir", directory,
                                  environment=environment)
        wait_for(lambda: self.owned() or not daemon.running(), every=0.005)
        return daemon

    def crashing(self, directory, at=None):
        """A daemon that counts its points and is killed at one of them."""
        environment = {"LD_PRELOAD": str(CRASH), "CRASH_LOG": str(directory) + ".points"}
        if SANITIZED:
            environment["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")
        if at:
            environment["CRASH_AT"] = str(at)
        return self.start(directory, environment)

    def ended(self, daemon):
        """The daemon is no more, and the bus knows."""
        status = daemon.wait()
        self.world.processes.remove(daemon)
        wait_for(lambda: not self.owned(), every=0.005)
        return status

    def directory(self):
        self.directories += 1
        return self.world.directory / f"crash-{self.directories}"

    def run(self, at=None):
        """(directory, Run, what ended the daemon, its points)"""
        directory = self.directory()
        daemon = self.crashing(directory, at)
        run = Run()
        if daemon.running():
            for step in STEPS:
                if not ask(self.bus, run, *step):
                    break
            else:
                daemon.signal(signal.SIGTERM)
        status = self.ended(daemon)
        points = pathlib.Path(str(directory) + ".points").read_text().splitlines()
        return directory, run, status, points

    # what is on the disk

    def disk(self, directory):
        """Tokens of the ledger that the killed daemon left, by name; damage raises."""
        path = directory / "ledger.json"
        if not path.exists():
            return {}
        document = json.loads(path.read_bytes())
        assert document["format"] == "numad-xen-ledger/1", document
        assert path.stat().st_mode & 0o777 == 0o600
        return {r["name"]: r["token"] for r in document["reservations"]}

    # what the next daemon says

    def check(self, point, directory, run):
        """Names what is wrong after the kill at that point."""
        on_disk = self.disk(directory)
        daemon = self.start(directory)
        document = status(self.bus)
        open_ones = {r["name"]: r for r in document["reservations"]}
        placements = {d["domid"]: d["placement"]["token"] for d in document["domains"] if d["placement"]}
        yield from self.wrong(run, open_ones, placements)
        if len(open_ones) != len(document["reservations"]):
            yield "a name is there twice"
        if {r["token"] for r in open_ones.values()} | set(placements.values()) != set(on_disk.values()):
            yield f"the disk has {on_disk}, the daemon {sorted(open_ones)} and {placements}"
        wanted = sum(sum(m["bytes"] for m in r["memory"]) + r["overhead"] for r in open_ones.values())
        got = sum(node["memory"]["reserved"] for node in document["nodes"])
        if got != wanted:
            yield f"{got} bytes are set aside for reservations of {wanted}"
        token, _ = place(self.bus, vcpus=1, memory=MIB, name="next", ttl_ms=60000)
        release(self.bus, token)
        if "set aside" in daemon.log() or sorted(p.name for p in directory.iterdir()) != ["ledger.json", "lock"]:
            yield f"{[p.name for p in directory.iterdir()]}\n{daemon.log()}"
        daemon.signal(signal.SIGTERM)
        if self.ended(daemon) != 0:
            yield f"it does not stop: {daemon.log()}"
        if any(what == "place" and name in open_ones for what, name in run.unanswered):
            self.open.append((point, directory, run, time.monotonic()))

    def wrong(self, run, open_ones, placements):
        """What was answered is so; what was not is so or as it was before; there is nothing else."""
        unsure = {name: what for what, name in run.unanswered}
        for name in {*run.told, *open_ones, *unsure}:
            token = run.told.get(name)
            is_open = name in open_ones
            is_committed = token is not None and placements.get(DOMID) == token
            may = {"none" if not token else "committed" if run.placed[name] else "open"}
            if name in unsure:
                may.add({"place": "open", "commit": "committed", "release": "none"}[unsure[name]])
            is_now = "open" if is_open else "committed" if is_committed else "none"
            if is_now not in may or (is_open and is_committed):
                yield f"{name} is {is_now}, must be {' or '.join(sorted(may))}"
            if is_open:
                yield from self.wrong_reservation(name, token, open_ones[name])
        if not set(placements.values()) <= set(run.told.values()) or len(placements) > 1:
            yield f"placements that nobody made: {placements}"

    @staticmethod
    def wrong_reservation(name, token, r):
        if token and r["token"] != token:
            yield f"{name} has the token {r['token']}, not {token}"
        if sum(m["bytes"] for m in r["memory"]) != MEMORY.get(name) or r["domid"] is not None:
            yield f"{name} is not whole: {r}"
        if not 0 <= r["expires_ms"] <= TTL_MS:
            yield f"{name} ends in {r['expires_ms']} ms"

    # the whole

    def count(self):
        """The points of a run that goes to its end, after checking that each change is on the disk before its reply."""
        directory, run, status, points = self.run()
        self.tap.equal((status, run.unanswered, run.placed), (0, [], {"d": False}), "all goes well without a kill")
        names = [" ".join(point.split()[1:]) for point in points]
        wanted = both("create")  # the lock
        for i, step in enumerate(STEPS):
            if step not in STEPS[:i]:
                wanted += [name for what in CHANGE for name in both(what)]
            wanted += both("reply") * (len(step) - 1)
        self.tap.equal(names, wanted, "each change is whole and on the disk before it is answered")
        return points

    def kill_at(self, n, point):
        """Errors after the kill at the n-th point; None: the run has not come to that point, or took too long."""
        directory, run, status, points = self.run(n)
        if time.monotonic() - run.started > IN_TIME or not points or points[-1] != point:
            return None
        if status != -signal.SIGKILL:
            return [f"ended with {status}"]
        return list(self.check(point, directory, run))

    def check_ends(self):
        """What nobody was told of ends with its time, also when no daemon is there to see it."""
        for point, directory, run, when in self.open:
            time.sleep(max(0, when + TTL_MS / 1000 + 0.1 - time.monotonic()))
            daemon = self.start(directory)
            wait_for(lambda: not status(self.bus)["reservations"], timeout=5)
            document = status(self.bus)
            left = {d["domid"]: d["placement"]["token"] for d in document["domains"] if d["placement"]}
            wanted = {DOMID: run.told[name] for name in run.told if run.placed[name]}
            self.tap.ok(not document["reservations"] and left == wanted, f"what nobody was told of ends: {point}",
                        f"{document['reservations']} {left} {wanted}")
            daemon.signal(signal.SIGTERM)
            self.ended(daemon)


def both(what):
    names = [f"before {what}", f"after {what}"]
    return [names[0], "amid write", names[1]] if what == "write" else names


def test_crash(tap, world):
    if not CRASH.exists():
        raise FileNotFoundError(f"{CRASH}: make check builds it")
    tester = Tester(tap, world)
    points = tester.count()
    for n, point in enumerate(points, 1):
        for _ in range(TRIES):
            errors = tester.kill_at(n, point)
            if errors is not None:
                break
        tap.ok(errors == [], f"killed at {point}", errors if errors is not None else "never came to this point in time")
    tap.ok(len(tester.open) >= 8, "there were promises that nobody was told of", len(tester.open))
    tester.check_ends()


run_tests(test_crash, limit=600)
