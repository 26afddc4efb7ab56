#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reservations on the disk: they outlive the daemon, and nothing that stands in the state directory does harm."""
import random
import resource
import stat

from placing import *  # noqa: F403

PV = {"vcpus": 1, "memory": 100 * MIB, "type": "pv"}
LEDGER = "ledger.json"
NUMAD_XEN = str(os.environ.get("NUMAD_XEN") or BUILD / "numad-xen")
FAILED = "org.freedesktop.DBus.Error.Failed"
FAST = "[daemon]\ninterval_ms = 100\n"


def stop(world, daemon, number=signal.SIGTERM):
    daemon.signal(number)
    daemon.wait()
    world.processes.remove(daemon)
    assert world.wait_for_name(owned=False)


def lasting(bus):
    """Reservations and placements, without what runs."""
    document = status(bus)
    return ([{k: v for k, v in r.items() if k != "expires_ms"} for r in document["reservations"]],
            {d["domid"]: d["placement"] for d in document["domains"]}, reserved(bus), available(bus))


def test_restart(tap, world):
    """SIGTERM and SIGKILL: all that was answered is there again."""
    daemon = start_daemon(world)
    with world.connect() as bus:
        committed, _ = place(bus, vcpus=1, memory=GIB, nodes=[1], strict=True, type="pv")
        commit(bus, committed, 1)
        tokens = [place(bus, name=f"odd \"{i}\" \\ \u20ac", uuid=new_uuid(), **PV)[0] for i in range(5)]
        tokens += [place(bus, vcpus=2, memory=3 * GIB, type="pvh")[0]]
        release(bus, tokens.pop(0))
        before = lasting(bus)
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM):
            stop(world, daemon, number)
            daemon = start_daemon(world)
            tap.equal(lasting(bus), before, f"{number.name}: all is there again")
        tap.equal(set(reservations(bus)), set(tokens), "what was released is not")
        for token in tokens:
            release(bus, token)
        stop(world, daemon, signal.SIGKILL)
        start_daemon(world)
        tap.equal((reservations(bus), reserved(bus)), ({}, [0] * 4), "after they are released, nothing is")
        tap.equal(domain(bus, 1)["placement"]["token"], committed, "but what was committed")
        release(bus, committed)
        tap.equal(domain(bus, 1)["placement"], None, "which can be released then, too")


def test_first_status(tap, world):
    """The first that anybody sees of a daemon has the reservations."""
    daemon = start_daemon(world)
    with world.connect() as bus:
        token, _ = place(bus, **PV)
        for _ in range(5):
            stop(world, daemon, signal.SIGKILL)
            serial = None
            daemon = world.start("--host", world.host(four_nodes()))
            while serial is None:
                serial = first_answer(bus)
            tap.equal([r["token"] for r in json.loads(serial)["reservations"]], [token], "the first status has it")


def first_answer(bus):
    try:
        return bus.call(NAME, PATH, INTERFACE, "GetStatus")[0]
    except BusError as error:
        assert error.name == "org.freedesktop.DBus.Error.ServiceUnknown", error
        return None


def test_time_goes_on(tap, world):
    """The TTL runs while nobody is there."""
    daemon = start_daemon(world, FAST)
    with world.connect() as bus:
        listen(bus)
        short, _ = place(bus, ttl_ms=1500, **PV)
        long, _ = place(bus, ttl_ms=30000, **PV)
        stop(world, daemon, signal.SIGKILL)
        time.sleep(2)
        daemon = start_daemon(world, FAST)
        tap.ok(wait_for(lambda: list(reservations(bus)) == [long], 5), "one whose time was over meanwhile has ended")
        left = reservations(bus)[long]["expires_ms"]
        tap.ok(15000 < left < 28100, "the other one's time has gone on", left)
        tap.equal(failure(commit, bus, short, 1)[0], EXPIRED, "Commit: it has expired")
        stop(world, daemon)
        start_daemon(world, FAST)
        tap.equal(failure(commit, bus, short, 1)[0], EXPIRED, "which the next daemon knows, too")


def test_domain_meanwhile(tap, world):
    """A domain that comes or goes while nobody looks."""
    guests = Guests(world)
    guests.daemon = start_daemon(world, FAST, guests.path())
    uuid = new_uuid()
    with world.connect() as bus:
        place(bus, uuid=uuid, ttl_ms=60000, **PV)
        stop(world, guests.daemon, signal.SIGKILL)
        guests.host["domains"].append(guest(20, [10, 0, 0, 0], uuid=uuid))
        guests.daemon = start_daemon(world, FAST, guests.path())
        tap.equal([r["domid"] for r in reservations(bus).values()], [20], "one that came is found")
        stop(world, guests.daemon, signal.SIGKILL)
        guests.host["domains"].pop()
        guests.daemon = start_daemon(world, FAST, guests.path())
        tap.ok(wait_for(lambda: not reservations(bus), 5), "one that went frees its promise", reservations(bus))
        tap.equal(reserved(bus), [0] * 4, "all of it")


def prepared(world):
    """A ledger with one reservation, as a daemon of this boot leaves it: (text, token)."""
    daemon = start_daemon(world)
    with world.connect() as bus:
        token, _ = place(bus, name="kept", ttl_ms=86400000, **PV)
    stop(world, daemon)
    return (world.state() / LEDGER).read_bytes(), token


def clear(directory):
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def survives(tap, world, what, make, kept=None, logged=True):
    """The daemon starts with what make(path of the ledger) left; has only `kept`; says so; and goes on as ever."""
    clear(world.state())
    make(world.state() / LEDGER)
    try:
        daemon = start_daemon(world)
    except RuntimeError as error:
        tap.ok(False, f"{what}: it starts", error)
        return None
    with world.connect() as bus:
        tap.equal(list(reservations(bus)), [kept] if kept else [], f"{what}: {'is taken' if kept else 'starts empty'}")
        lost = [w["text"] for w in status(bus)["host"]["warnings"] if w["code"] == "ledger-lost"]
        tap.ok(bool(lost) == (logged and not kept) and all(str(world.state() / LEDGER) in s and "not known" in s for s in lost),
               f"{what}: the status warns", lost)
        if logged:
            said = [line for line in daemon.log().splitlines() if "ledger" in line and not line.endswith(" reservation")]
            tap.ok(bool(said) != bool(kept) and all(len(s) < 600 and s.isprintable() for s in said), f"{what}: the log", daemon.log())
        token, _ = place(bus, **PV)
        stop(world, daemon, signal.SIGKILL)
        daemon = start_daemon(world)
        tap.equal(set(reservations(bus)), {token, *([kept] if kept else [])}, f"{what}: and what is reserved then is kept")
        tap.ok("ledger-lost" not in [w["code"] for w in status(bus)["host"]["warnings"]], f"{what}: the next start does not warn")
    stop(world, daemon)
    return daemon


def test_damaged(tap, world):
    text, token = prepared(world)
    write = lambda data: lambda path: path.write_bytes(data)
    survives(tap, world, "its own file", write(text), token)
    for what, data in (("an empty file", b""), ("half of it", text[:len(text) // 2]), ("all but the last brace", text.rstrip()[:-1]),
                       ("its end alone", text[20:]), ("more behind it", text + b"{}"), ("zeros", bytes(len(text))),
                       ("random bytes", random.Random(1).randbytes(4096)), ("a list", b"[]"), ("a number", b"1"), ("{}", b"{}"),
                       ("deep nesting", b"[" * 100000), ("another format", text.replace(b"ledger/1", b"ledger/9")),
                       ("a token that is none", text.replace(token.encode(), token[:-1].encode() + b"/")),
                       ("a negative number", text.replace(str(100 * MIB).encode(), b"-1")),
                       ("a number that is too large", text.replace(str(100 * MIB).encode(), b"9" * 40)),
                       ("a status", json.dumps({"format": "numad-xen-status/1"}).encode())):
        survives(tap, world, what, write(data))
        bad = world.state() / (LEDGER + ".bad")
        tap.ok(bad.exists() and bad.read_bytes() == data, f"{what}: is set aside to be looked at", list(world.state().iterdir()))


def test_foreign(tap, world):
    text, token = prepared(world)
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().encode()
    tap.ok(boot in text, "the file has the boot's id", text)
    survives(tap, world, "another boot's", lambda path: path.write_bytes(text.replace(boot, new_uuid().encode())), logged=False)
    other = world.host(four_nodes(), "other.json")
    clear(world.state())
    (world.state() / LEDGER).write_bytes(text)
    daemon = start_daemon(world, host=other)
    with world.connect() as bus:
        tap.equal(reservations(bus), {}, "another host's")
    said = [line for line in daemon.log().splitlines() if LEDGER in line]
    tap.ok(len(said) == 1 and "another host" in said[0] and "1 reservation dropped" in said[0], "which the log tells, once", daemon.log())
    stop(world, daemon)


def test_warning_stays(tap, world):
    """What is not known any more is told until the next start, in every snapshot, and by doctor."""
    warns = lambda bus: [w["code"] for w in status(bus)["host"]["warnings"]].count("ledger-lost")
    (world.state() / LEDGER).write_bytes(b"{")
    daemon = start_daemon(world, FAST)
    with world.connect() as bus:
        tap.ok(warns(bus) == 1 and wait_for_generation(bus, 3) and warns(bus) == 1, "a collection keeps the warning")
        token, _ = place(bus, **PV)
        tap.equal(warns(bus), 1, "a decision, too")
        daemon.signal(signal.SIGHUP)
        tap.ok(wait_for_generation(bus, 5) and warns(bus) == 1, "and SIGHUP")
        out = subprocess.run([NUMAD_XEN, "doctor", "--bus", world.address], capture_output=True, text=True)
        tap.ok(LEDGER in out.stdout and out.returncode == 1, "doctor tells of it", out)
    stop(world, daemon)
    start_daemon(world)
    with world.connect() as bus:
        tap.equal((warns(bus), list(reservations(bus))), (0, [token]), "the next start does not")


def test_node_goes(tap, world):
    """SIGHUP to a host without the node of a reservation: it stays until its time is over, and does no harm."""
    path = pathlib.Path(world.host(four_nodes(), "changing.json"))
    daemon = start_daemon(world, FAST, path)
    with world.connect() as bus:
        token, _ = place(bus, nodes=[3], strict=True, ttl_ms=4000, **PV)
        less = four_nodes()
        less.update(nodes=[{**node, "distances": node["distances"][:2]} for node in less["nodes"][:2]], domains=[
            {**d, "total_pages": sum(d["node_pages"][:2]), "node_pages": d["node_pages"][:2],
             "vcpus": [{"hard": "0-3", "soft": "0-3"}]} for d in less["domains"][:2]])
        path.write_text(json.dumps(less))
        daemon.signal(signal.SIGHUP)
        tap.ok(wait_for(lambda: len(status(bus)["nodes"]) == 2, 5), "the node is gone", daemon.log())
        tap.equal(list(reservations(bus)), [token], "the reservation stays")
        for command in ("status", "reservations"):
            out = subprocess.run([NUMAD_XEN, command, "--bus", world.address], capture_output=True, text=True)
            tap.ok(out.returncode == 0 and token[:20] in out.stdout, f"{command} shows it", out)
        other, _ = place(bus, **PV)
        release(bus, other)
        tap.ok(wait_for(lambda: not reservations(bus), 10) and daemon.running(), "its time ends it", daemon.log())


def swap_link(path, target, data):
    target.write_bytes(data)
    path.symlink_to(target)


def test_odd_files(tap, world):
    text, token = prepared(world)
    outside = world.directory / "outside"

    def huge(path):
        path.write_bytes(text)
        os.truncate(path, (64 << 20) + 1)

    def enormous(path):
        path.write_bytes(text)
        os.truncate(path, 1 << 40)

    def another_user(path):
        path.write_bytes(text)
        os.chown(path, NOBODY, NOBODY)

    start = time.monotonic()
    survives(tap, world, "a file that is too large", huge)
    survives(tap, world, "a terabyte of nothing", enormous)
    tap.ok(time.monotonic() - start < 30, "at once")
    survives(tap, world, "a directory", lambda path: path.mkdir())
    survives(tap, world, "a FIFO", lambda path: os.mkfifo(path))
    survives(tap, world, "a socket", lambda path: socket.socket(socket.AF_UNIX).bind(str(path)))
    survives(tap, world, "a device", lambda path: path.symlink_to("/dev/zero"))
    survives(tap, world, "a link to a good file", lambda path: swap_link(path, outside, text))
    tap.equal(outside.read_bytes(), text, "what it points to stays as it is")
    survives(tap, world, "a link to nothing", lambda path: path.symlink_to(world.directory / "nothing"))
    tap.ok(not (world.directory / "nothing").exists(), "and nothing is made there")
    survives(tap, world, "a link to itself", lambda path: path.symlink_to(path))
    if os.geteuid() == 0:
        survives(tap, world, "another user's file", another_user)
    else:
        tap.skip("another user's file", "needs root, to give a file away")
    survives(tap, world, "a full directory where bad files go", lambda path: (path.write_bytes(b"bad"), fill(path)))


def fill(path):
    bad = path.with_name(LEDGER + ".bad")
    bad.mkdir()
    (bad / "x").touch()


def test_files(tap, world):
    old = os.umask(0)
    state = world.directory / "made"
    daemon = start_daemon(world, arguments=["--state-dir", state], environment={"RUNTIME_DIRECTORY": str(world.state())})
    os.umask(old)
    with world.connect() as bus:
        place(bus, **PV)
        tap.equal(stat.S_IMODE(state.stat().st_mode), 0o700, "the directory is made, and the daemon's alone")
        tap.equal({stat.S_IMODE(p.stat().st_mode) for p in state.iterdir()}, {0o600}, "so are its files")
        for _ in range(20):
            release(bus, place(bus, **PV)[0])
        names = sorted(p.name for p in state.iterdir())
        tap.ok(LEDGER in names and len(names) <= 2, "nothing else is left there", names)
        tap.equal(list(world.state().iterdir()), [], "and $RUNTIME_DIRECTORY is not used")
        # The file is swapped under the daemon's feet.
        (state / LEDGER).unlink()
        outside = world.directory / "outside"
        outside.write_text("precious")
        (state / LEDGER).symlink_to(outside)
        token, _ = place(bus, **PV)
        tap.equal(outside.read_text(), "precious", "nothing is written through a link")
        tap.ok((state / LEDGER).is_file() and not (state / LEDGER).is_symlink() and token in (state / LEDGER).read_text(),
               "a file takes the link's place")
    stop(world, daemon)
    daemon = start_daemon(world, environment={"RUNTIME_DIRECTORY": str(state)})
    with world.connect() as bus:
        tap.ok(token in reservations(bus), "without the option it is $RUNTIME_DIRECTORY")
    stop(world, daemon)


def refused_start(tap, world, what, *arguments, said, uid=None, environment=None):
    daemon = world.start("--host", world.host(four_nodes()), *arguments, uid=uid, environment=environment)
    got = daemon.wait()
    lines = [line for line in daemon.log().splitlines() if line]
    tap.ok(got in (1, 5) and any(s in daemon.log() for s in said), f"{what}: no start, and why", f"{got}: {daemon.log()}")
    tap.ok(len(lines) <= 3, f"{what}: in one message", daemon.log())
    world.processes.remove(daemon)
    return daemon


def test_second(tap, world):
    first = start_daemon(world)
    refused_start(tap, world, "a second daemon with the same directory", said=[str(world.state())])
    with world.connect() as bus:
        token, _ = place(bus, **PV)
        tap.equal(list(reservations(bus)), [token], "the first goes on")
    stop(world, first, signal.SIGKILL)
    second = start_daemon(world)
    with world.connect() as bus:
        tap.equal(list(reservations(bus)), [token], "when it is killed the directory is free")
    stop(world, second)


def test_directories(tap, world):
    directory = world.directory / "d"
    option = ["--state-dir", directory]

    def check(what, make, said, undo=None):
        make()
        refused_start(tap, world, what, *option, said=said)
        if undo:
            undo()
        elif directory.is_dir() and not directory.is_symlink():
            shutil.rmtree(directory)
        else:
            directory.unlink()

    check("a file", lambda: directory.touch(), ["must be a directory"])
    if os.geteuid() == 0:
        check("another user's directory", lambda: (directory.mkdir(mode=0o700), os.chown(directory, NOBODY, NOBODY)), [str(directory)])
    else:
        tap.skip("another user's directory", "needs root, to give a directory away")
    check("a directory that others may write to", lambda: (directory.mkdir(), directory.chmod(0o777)), [str(directory)])
    check("a directory that a group may write to", lambda: (directory.mkdir(), directory.chmod(0o770)), [str(directory)])
    refused_start(tap, world, "a directory in one that is not there", "--state-dir", world.directory / "no/d", said=["No such file"])
    (world.directory / "real").mkdir(mode=0o700)
    check("a link to a directory", lambda: directory.symlink_to(world.directory / "real"), [str(directory)])
    daemon = world.start("--state-dir", "")
    tap.equal(daemon.wait(), 2, "an empty name is usage")
    world.processes.remove(daemon)


def refuses_to_place(tap, world, bus, daemon, what, directory):
    """Place fails cleanly: nothing is promised, nothing changes, the daemon lives."""
    before = lasting(bus)
    token = next(iter(reservations(bus)))
    for name, text in (failure(place, bus, **PV), failure(release, bus, token), failure(commit, bus, token, 7)):
        tap.ok(name == FAILED and text.startswith(f"nothing was changed: the ledger cannot be written to {directory}: "),
               f"{what}: the failure names the directory", (name, text))
    out = subprocess.run([NUMAD_XEN, "place", "--vcpus", "1", "--memory", "1M", "--bus", world.address], capture_output=True, text=True)
    tap.ok(out.returncode == 1 and str(directory) in out.stderr, f"{what}: for the tool it is no lack of room", out)
    tap.ok(lasting(bus) == before, f"{what}: and nothing is reserved", lasting(bus))
    tap.ok(failure(release, bus, token)[0] and lasting(bus) == before, f"{what}: nor released", lasting(bus))
    tap.ok(failure(commit, bus, token, 7)[0] and lasting(bus) == before, f"{what}: nor committed", lasting(bus))
    tap.ok(daemon.running() and wait_for_generation(bus, 2), f"{what}: the daemon goes on", daemon.log())


def works_again(tap, world, bus, daemon, what, arguments=()):
    token, _ = place(bus, **PV)
    before = lasting(bus)
    stop(world, daemon, signal.SIGKILL)
    daemon = start_daemon(world, FAST, arguments=arguments)
    tap.ok(lasting(bus) == before and token in reservations(bus), f"{what}: with room again all works, and is kept", lasting(bus))
    stop(world, daemon)


def test_file_size_limit(tap, world):
    """A disk that takes no more, by a limit on files."""
    daemon = start_daemon(world, FAST)
    with world.connect() as bus:
        place(bus, **PV)
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
        refuses_to_place(tap, world, bus, daemon, "files are too small", world.state())
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        works_again(tap, world, bus, daemon, "files are too small")


def mounted(command):
    return subprocess.run(command, capture_output=True, text=True).returncode == 0


def test_full_disk(tap, world):
    directory = world.directory / "small"
    directory.mkdir(mode=0o700)
    if not mounted(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "none", str(directory)]):
        tap.skip("a full disk", "cannot mount a tmpfs here")
        return
    try:
        arguments = ["--state-dir", directory]
        daemon = start_daemon(world, FAST, arguments=arguments)
        with world.connect() as bus:
            place(bus, **PV)
            with contextlib.suppress(OSError), open(directory / "filler", "wb", buffering=0) as filler:
                while filler.write(bytes(4096)):
                    pass
            refuses_to_place(tap, world, bus, daemon, "a full disk", directory)
            said = [line for line in daemon.log().splitlines() if "No space left" in line]
            tap.ok(len(said) == 1 and "ledger" in said[0], "a full disk: the log tells, once", daemon.log())
            (directory / "filler").unlink()
            works_again(tap, world, bus, daemon, "a full disk", arguments)
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def test_read_only(tap, world):
    directory = world.directory / "small"
    directory.mkdir(mode=0o700)
    if not mounted(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700,ro", "none", str(directory)]):
        tap.skip("a read-only directory", "cannot mount a tmpfs here")
        return
    try:
        refused_start(tap, world, "a read-only directory", "--state-dir", directory, said=["Read-only file system"])
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def test_gone(tap, world):
    """The directory is removed under the daemon's feet."""
    daemon = start_daemon(world, FAST)
    with world.connect() as bus:
        place(bus, **PV)
        shutil.rmtree(world.state())
        refuses_to_place(tap, world, bus, daemon, "a directory that is gone", world.state())
    stop(world, daemon)


run_tests(test_restart, test_first_status, test_time_goes_on, test_domain_meanwhile, test_damaged, test_warning_stays, test_foreign, test_node_goes, test_odd_files,
          test_files, test_second, test_directories, test_file_size_limit, test_full_disk, test_read_only, test_gone)
