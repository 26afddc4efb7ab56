#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starting, stopping, and what goes wrong with either."""
from world import *  # noqa: F403


def ends(tap, process, status, text, name):
    """The process ends with that status and says so."""
    got = process.wait()
    tap.ok(got == status and text in process.log(), name, f"status {got}, wanted {status} and {text!r}:\n"
           f"{process.log()}")


def test_options(tap, world):
    run = lambda *options: subprocess.run([NUMAD_XEND, *options], capture_output=True, text=True, timeout=PATIENCE)
    for option in "--help", "--version", "--bus-introspect":
        result = run(option)
        tap.ok(result.returncode == 0 and result.stdout and not result.stderr, f"{option} prints and exits 0", result)
    for option in "--host", "--bus", "--bus-introspect", "--version":
        tap.ok(option in run("--help").stdout, f"--help tells {option}")
    for options in (["--nonsense"], ["argument"], ["--host"], ["--host", ""], ["--bus="], ["-x"]):
        result = run(*options)
        tap.ok(result.returncode == 2 and result.stderr and not result.stdout, f"{' '.join(options)}: usage", result)
    for option, said in ((b"a\33[1m\nb\xe9\xc3\xa9", b"a\\x1b[1m\\x0ab\\xe9\xc3\xa9: takes no arguments"),
                         (b"--a\33\n", b"--a\\x1b\\x0a: no such option"), (b"-\xe9", b"-\\xe9: no such option"),
                         (b"--b", b"--b: may be more than one option"), (b"--conf", b"--config: needs a value"),
                         (b"--version=3", b"--version: takes no value"), (b"--bus=", b"--bus: an empty value")):
        result = subprocess.run([NUMAD_XEND, option], capture_output=True, timeout=PATIENCE)
        tap.equal((result.returncode, result.stderr), (2, b"numad-xend: " + said + b"\nTry 'numad-xend --help'.\n"),
                  f"{option}: said by the program's name, escaped")
    with open("/dev/full", "w") as full:
        result = subprocess.run([NUMAD_XEND, "--help"], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
    tap.equal(result.returncode, 1, "output that cannot be written is a failure")


def test_bad_start(tap, world):
    good = world.host(four_nodes())
    ends(tap, world.start("--host", "/nonexistent/host.json"), 1, "/nonexistent/host.json: No such file",
         "no host description")
    bad = world.host(four_nodes(nodes=[]), "bad.json")
    ends(tap, world.start("--host", bad), 1, "bad.json", "a refused host description is named")
    ends(tap, world.start("--host", good, "--bus", "unix:path=/nonexistent/bus", bus=False), 4, "/nonexistent/bus",
         "no bus")
    ends(tap, world.start("--host", good, "--bus", "nonsense", bus=False), 4, "nonsense", "a bad address")
    os.mkfifo(world.directory / "fifo")
    ends(tap, world.start("--host", world.directory / "fifo"), 1, "fifo: not a regular file",
         "a FIFO that nobody writes to")
    # connects but never answers: a listening socket with nobody behind it
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(world.directory / "silent"))
        silent.listen()
        start = lambda: world.start("--host", good, "--bus", f"unix:path={world.directory}/silent", bus=False)
        ends(tap, start(), 4, "does not answer", "a bus that does not answer ends the start")
        daemon = start()
        time.sleep(1)
        daemon.signal(signal.SIGTERM)
        tap.equal(daemon.wait(timeout=5), 0, "which can be stopped until then")


def test_second(tap, world):
    first = world.daemon(world.host(four_nodes()))
    elsewhere = {"RUNTIME_DIRECTORY": str(world.directory / "elsewhere")}
    ends(tap, world.start("--host", world.host(four_nodes()), environment=elsewhere), 1, f"process {first.pid}",
         "a second daemon says who owns the name")
    with world.connect() as bus:
        tap.equal(len(status(bus)["domains"]), 3, "and the first goes on")


def test_not_permitted(tap, world):
    if os.geteuid() != 0:
        tap.skip("another user cannot own the name", "needs root, to become another user")
        return
    host = world.host(four_nodes())
    ends(tap, world.start("--host", host, uid=NOBODY), 5, "does not let us own", "another user cannot own the name")
    tap.ok(not world.owned(), "nobody owns it then")
    own = lambda: error_of(world.connect().driver, "RequestName", "su", [NAME, 0])
    tap.equal(as_user(NOBODY, own), "org.freedesktop.DBus.Error.AccessDenied", "nor can a bare client of his")


def test_stop(tap, world):
    for number in signal.SIGTERM, signal.SIGINT:
        daemon = world.daemon(world.host(four_nodes()))
        start = time.monotonic()
        daemon.signal(number)
        tap.equal(daemon.wait(), 0, f"{number.name} ends it with 0")
        tap.ok(time.monotonic() - start < 5, f"{number.name}: at once")
        tap.ok(world.wait_for_name(owned=False), f"{number.name}: the name is free")
        with world.connect() as bus:
            tap.equal(error_of(call, bus, "GetStatus"), "org.freedesktop.DBus.Error.ServiceUnknown",
                      f"{number.name}: callers hear that there is no service")


def test_kill(tap, world):
    """A client that waits for an answer when the daemon dies hears of it, and the next daemon answers it."""
    host = world.host(four_nodes())
    daemon = world.daemon(host)
    with world.connect() as bus:
        status(bus)
        daemon.signal(signal.SIGSTOP)
        serial = bus.send(NAME, PATH, INTERFACE, "GetStatus")
        tap.ok(not answered_within(bus, serial, 0.5), "a stopped daemon does not answer")
        daemon.signal(signal.SIGKILL)
        tap.equal(error_of(bus.answer, serial), "org.freedesktop.DBus.Error.NoReply", "its death is told at once")
        tap.ok(world.wait_for_name(owned=False), "the name is free")
        daemon.wait()  # its state directory is free, too
        world.daemon(host)
        tap.equal(len(status(bus)["domains"]), 3, "the same client is answered by the next daemon")


def answered_within(bus, serial, seconds):
    try:
        bus.answer(serial, seconds)
        return True
    except Timeout:
        return False


def test_bus_dies(tap, world):
    host = world.host(four_nodes())
    daemon = world.daemon(host)
    world.end_bus()
    ends(tap, daemon, 4, "bus has closed the connection", "without its bus the daemon ends")
    world.start_bus()
    world.daemon(host)
    with world.connect() as bus:
        tap.equal(len(status(bus)["domains"]), 3, "and a new start finds the new bus")


def test_bus_stuck(tap, world):
    """A bus that takes nothing any more must not keep the daemon from stopping."""
    daemon = world.daemon(world.host(many_domains(1000)))
    with world.connect() as bus:
        first, *_ = [bus.send(NAME, PATH, INTERFACE, "GetStatus") for _ in range(50)]
        bus.answer(first)  # the others are on their way
        world.bus.signal(signal.SIGSTOP)
        time.sleep(1.5)
        daemon.signal(signal.SIGTERM)
        tap.equal(daemon.wait(timeout=10), 0, "it stops though the bus is stuck")
        world.bus.signal(signal.SIGCONT)


run_tests(test_options, test_bad_start, test_second, test_not_permitted, test_stop, test_kill, test_bus_dies,
          test_bus_stuck)
