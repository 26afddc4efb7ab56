#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The configuration file: each setting does what it says; a bad file changes nothing, at the start and at SIGHUP."""
import threading

from world import *  # noqa: F403


class Config:
    def __init__(self, world, text=""):
        self.path = world.directory / "numad-xend.conf"
        self.write(text)

    def write(self, text):
        new = self.path.with_suffix(".new")
        new.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.replace(new, self.path)


def start(world, text="", host=None):
    config = Config(world, text)
    daemon = world.start("--host", world.host(host or four_nodes()), "--config", config.path)
    if not world.wait_for_name():
        raise RuntimeError(f"the daemon did not take its name: {daemon.log()}")
    return config, daemon


def reload(daemon, said):
    """Whether SIGHUP makes it say that."""
    before = len(daemon.log())
    daemon.signal(signal.SIGHUP)
    return wait_for(lambda: said in daemon.log()[before:])


def rate(bus, seconds):
    """Generations a second."""
    first, begin = get(bus, "Generation"), time.monotonic()
    time.sleep(seconds)
    return (get(bus, "Generation") - first) / (time.monotonic() - begin)


def allowed(world):
    """How many status requests pass in a burst; the bucket is full before."""
    time.sleep(1.2)
    passed = 0
    with world.connect() as bus:
        while error_of(call, bus, "GetStatus") is None:
            passed += 1
    return passed


def available(bus):
    return [node["memory"]["available"] for node in status(bus)["nodes"]]


def test_interval(tap, world):
    config, daemon = start(world, "[daemon]\ninterval_ms = 100\n")
    tap.ok("settings: interval_ms=100" in daemon.log(), "what is set is logged", daemon.log())
    with world.connect() as bus:
        fast = rate(bus, 3)
        tap.ok(4 <= fast <= 11, "100 ms are ten generations a second", fast)
        config.write("")
        tap.ok(reload(daemon, "reloaded, settings: all are the defaults"), "SIGHUP takes the defaults back", daemon.log())
        slow = rate(bus, 4)
        tap.ok(0.4 <= slow <= 2, "which are one a second", slow)
        config.write("[daemon]\ninterval_ms = 3600000\n")
        reload(daemon, "interval_ms=3600000")
        time.sleep(2)  # what was due with the old interval
        tap.equal(rate(bus, 2.5), 0, "an hour is long")
        config.write("[daemon]\ninterval_ms = 200\n")
        reload(daemon, "interval_ms=200")
        tap.ok(wait_for(lambda: rate(bus, 1) >= 3), "and over when it is made short again")


def test_long_interval(tap, world):
    """The first collection waits for nothing."""
    begin = time.monotonic()
    start(world, "[daemon]\ninterval_ms = 3600000\n")
    tap.ok(time.monotonic() - begin < PATIENCE, "a daemon that collects once an hour is there at once")
    with world.connect() as bus:
        tap.equal(status(bus)["generation"], 1, "with its first generation")


def test_headroom(tap, world):
    gib = 1 << 30
    host = four_nodes()
    host["nodes"][3]["free"] = gib // 2
    config, daemon = start(world, host=host)
    with world.connect() as bus:
        tap.equal(available(bus), [2 * gib, 2 * gib, 2 * gib, gib // 2], "without headroom all that is free is available")
        config.write("[placement]\nheadroom = 1G\n")
        reload(daemon, "reloaded, settings: headroom=1G")
        tap.ok(wait_for(lambda: available(bus) == [gib, gib, gib, 0]), "headroom is not available, of each node",
               available(bus))
        tap.equal([node["memory"]["free"] for node in status(bus)["nodes"]], [2 * gib, 2 * gib, 2 * gib, gib // 2],
                  "it stays free")


def test_requests(tap, world):
    config, daemon = start(world, "[limits]\nrequests_per_s = 20\n")
    few = allowed(world)
    tap.ok(20 <= few <= 40, "20 requests a second pass", few)
    config.write("[limits]\nrequests_per_s = 100000\n")
    reload(daemon, "requests_per_s=100000")
    with world.connect() as bus:
        errors = {error_of(call, bus, "GetStatus") for _ in range(600)}
    tap.equal(errors, {None}, "more when more are allowed")
    config.write("[limits]\nrequests_per_s = 1\n")
    reload(daemon, "requests_per_s=1")
    tap.ok(allowed(world) <= 3, "or fewer")


def bad_files():
    """What it is, what makes it at a path, the reason."""
    text = lambda t: lambda path: path.write_bytes(t)
    return (
        ("an unknown key", text(b"[daemon]\ninterval_ms = 500\nspeed = 3\n"),
         "numad-xend.conf:3: daemon.speed: no such key: [daemon] has interval_ms, adopt"),
        ("a value out of range", text(b"[daemon]\ninterval_ms = 1\n"),
         "numad-xend.conf:2: daemon.interval_ms: '1' is too small: give a whole number from 100 to 3600000"),
        ("an unknown section", text(b"[deamon]\ninterval_ms = 500\n"),
         "numad-xend.conf:1: [deamon]: no such section: there are [daemon], [placement], [limits]"),
        ("a zero byte", text(b"[daemon]\ninterval_ms = 500\0\n"), "numad-xend.conf:2: a zero byte"),
        ("a colon", text(b"[daemon]\ninterval_ms : 500\n"),
         "numad-xend.conf:2: interval_ms: ':' stands for '=': write interval_ms = 500\n"),
        ("a byte order mark", text(b"\xef\xbb\xbf[daemon]\n"), "numad-xend.conf:1: a byte order mark"),
        ("no closing bracket", text(b"[daemon\nadopt = no\n"),
         "numad-xend.conf:1: [daemon: no ']': a section's line is [NAME]\n"),
        ("bytes of no text", text(b"[daemon]\nadopt = y\xe9\x1b[1ms\n"),
         "numad-xend.conf:2: daemon.adopt: 'y\\xe9\\x1b[1ms' is not allowed: give yes or no\n"),
        ("random bytes", text(bytes(range(255, -1, -1)) * 8), "numad-xend.conf:"),
        ("a file that is too large", text(b"#\n" * 40000), "numad-xend.conf: larger than 64 KiB"),
        ("a FIFO", lambda path: os.mkfifo(path), "numad-xend.conf: not a regular file"),
        ("a directory", lambda path: path.mkdir(), "numad-xend.conf: not a regular file"),
        ("a file that is not there", lambda path: None, "numad-xend.conf: No such file or directory"),
    )


def remove(path):
    if path.is_dir():
        path.rmdir()
    elif path.exists():
        path.unlink()


def test_bad_start(tap, world):
    host = world.host(four_nodes())
    path = world.directory / "numad-xend.conf"
    for what, make, reason in bad_files():
        remove(path)
        make(path)
        daemon = world.start("--host", host, "--config", path)
        tap.equal(daemon.wait(), 1, f"{what}: no start")
        tap.ok(reason in daemon.log(), f"{what}: and the reason", daemon.log())
    remove(path)
    for arguments in (["--config", ""], ["--config"]):
        out = subprocess.run([world.program(), *arguments], capture_output=True, text=True)
        tap.equal(out.returncode, 2, f"{arguments}: usage")


def test_bad_reload(tap, world):
    config, daemon = start(world, "[daemon]\ninterval_ms = 100\n[placement]\nheadroom = 1G\n")
    with world.connect() as bus:
        wanted = available(bus)
        for what, make, reason in bad_files():
            remove(config.path)
            make(config.path)
            before = len(daemon.log())
            tap.ok(reload(daemon, "reload refused, keeping what was: ") and reason in daemon.log()[before:],
                   f"{what}: refused with its reason", daemon.log()[before:])
            tap.ok(wait_for_generation(bus, 2) and available(bus) == wanted, f"{what}: what was goes on")
        tap.ok(rate(bus, 2) >= 3, "at its rate")
        remove(config.path)
        config.write("")
        tap.ok(reload(daemon, "reloaded, settings: all are the defaults"), "a good file is taken after bad ones")
        tap.ok(wait_for(lambda: available(bus) != wanted), "and holds")


def test_both_or_neither(tap, world):
    """Settings and host description are taken together."""
    host = four_nodes()
    config, daemon = start(world, host=host)
    with world.connect() as bus:
        wanted = available(bus)
        config.write("[placement]\nheadroom = 1G\n")
        world.host("{")
        tap.ok(reload(daemon, "reload refused, keeping what was: "), "a bad host description is refused")
        wait_for_generation(bus, 2)
        tap.equal(available(bus), wanted, "and the good settings beside it are not taken")
        config.write("[placement]\nheadroom = much\n")
        host["domains"].pop()
        world.host(host)
        tap.ok(reload(daemon, "reload refused, keeping what was: "), "bad settings are refused")
        wait_for_generation(bus, 2)
        tap.equal(len(status(bus)["domains"]), 3, "and the good host description beside them is not taken")
        config.write("[placement]\nheadroom = 1G\n")
        reload(daemon, "reloaded")
        tap.ok(wait_for(lambda: len(status(bus)["domains"]) == 2 and available(bus) != wanted), "both good: both taken")


def test_notify(tap, world):
    notify = Notify(world.directory / "notify")
    config = Config(world)
    daemon = world.start("--host", world.host(four_nodes()), "--config", config.path, environment=notify.environment())
    notify.wait("READY=1")
    for what, text in ("good", "[daemon]\ninterval_ms = 500\n"), ("bad", "[daemon]\ninterval_ms = never\n"):
        notify.messages.clear()
        config.write(text)
        daemon.signal(signal.SIGHUP)
        tap.ok(notify.wait("READY=1"), f"{what} settings: READY=1 ends the reload", notify.messages)
        lines = "\n".join(notify.messages).split("\n")
        tap.ok(lines.count("RELOADING=1") == 1 and lines.index("RELOADING=1") < lines.index("READY=1"),
               f"{what} settings: RELOADING=1 begins it", lines)


def test_under_load(tap, world):
    """Readers see whole generations with one headroom, whatever is reloaded under them."""
    gib = 1 << 30
    config, daemon = start(world, "[limits]\nrequests_per_s = 100000\n")
    stop, seen, failed = threading.Event(), set(), []

    def read():
        try:
            with world.connect() as bus:
                while not stop.is_set():
                    seen.add(tuple(available(bus)))
        except Exception as error:  # the test tells
            failed.append(repr(error))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for i in range(60):
        text = f"[daemon]\ninterval_ms={100 + i}\n[placement]\nheadroom={i % 2}G\n[limits]\nrequests_per_s=100000\n"
        config.write(text if i % 3 else "[daemon]\ninterval_ms=0\n")
        reload(daemon, "reload")
    stop.set()
    for reader in readers:
        reader.join()
    tap.equal(failed, [], "every request is answered")
    tap.ok(seen == {(gib,) * 4, (2 * gib,) * 4}, "readers see one headroom or the other on all nodes", seen)
    with world.connect() as bus:
        tap.ok(wait_for_generation(bus, 3), "and collecting goes on")
    daemon.signal(signal.SIGTERM)
    tap.equal(daemon.wait(), 0, "and it ends well")


run_tests(test_interval, test_long_interval, test_headroom, test_requests, test_bad_start, test_bad_reload,
          test_both_or_neither, test_notify, test_under_load)
