#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command-line tool and its library against a running daemon, a dead one and a deaf one."""
from world import *  # noqa: F403

LIBS = BUILD / ".libs"


class Client:
    """numad-xen with its library, where every user can reach them."""

    def __init__(self, world):
        self.world = world
        for name in "numad-xen", "libnumadxen.so.0":
            shutil.copy(LIBS / name, world.directory / name)
            (world.directory / name).chmod(0o755)

    def __call__(self, *arguments, uid=None, timeout=60):
        user = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
        return subprocess.run([self.world.directory / "numad-xen", "--bus", self.world.address, *arguments], cwd="/",
                              env={**os.environ, "LD_LIBRARY_PATH": str(self.world.directory)}, capture_output=True,
                              text=True, timeout=timeout, **user)


def fails(tap, result, status, name):
    good = result.returncode == status and not result.stdout and result.stderr.startswith("numad-xen: ")
    tap.ok(good, name, result)


def test_commands(tap, world):
    client = Client(world)
    world.daemon(world.host(four_nodes()))
    for command in (["status"], ["topology"], ["numastat"], ["numastat", "-d", "1"], ["numastat", "--pages"]):
        result = client(*command)
        tap.ok(result.returncode == 0 and result.stdout and not result.stderr, " ".join(command), result)
    for command, form in ("status", "numad-xen-status/1"), ("topology", "numad-xen-topology/1"):
        tap.equal(json.loads(client(command, "--json").stdout)["format"], form, f"{command} --json")
    tap.ok("g1" in client("status").stdout, "status names the domains")
    fails(tap, client("numastat", "-d", "99"), 1, "a domain that does not exist")


def test_other_user(tap, world):
    if os.geteuid() != 0:
        tap.skip("another user reads", "needs root, to become another user")
        return
    client = Client(world)
    world.daemon(world.host(four_nodes()))
    for command in ["status", "--json"], ["topology"], ["numastat", "-d", "7"]:
        result = client(*command, uid=NOBODY)
        tap.ok(result.returncode == 0 and result.stdout, f"another user: {' '.join(command)}", result)


def test_no_daemon(tap, world):
    client = Client(world)
    host = world.host(four_nodes())
    fails(tap, client("status"), 4, "no daemon yet")
    daemon = world.daemon(host)
    tap.equal(client("status").returncode, 0, "a daemon")
    for number in signal.SIGTERM, signal.SIGKILL:
        daemon.signal(number)
        daemon.wait()
        world.wait_for_name(owned=False)
        fails(tap, client("status"), 4, f"after {number.name}")
        daemon = world.daemon(host)
        tap.equal(client("status").returncode, 0, f"and started again after {number.name}")
    daemon.signal(signal.SIGSTOP)
    start = time.monotonic()
    fails(tap, client("status"), 4, "a daemon that does not answer")
    tap.ok(4 < time.monotonic() - start < 20, "after the five seconds of the contract", time.monotonic() - start)
    daemon.signal(signal.SIGCONT)
    tap.equal(client("status").returncode, 0, "which answers again later")
    world.end_bus()
    fails(tap, client("status"), 4, "no bus")


def test_many(tap, world):
    client = Client(world)
    world.daemon(world.host(many_domains(1000)))
    tap.equal(len(json.loads(client("status", "--json").stdout)["domains"]), 1000, "status of 1000 domains")
    result = client("numastat")
    tap.ok(result.returncode == 0 and "guest-999" in result.stdout, "numastat of 1000 domains", result.stderr)
    children = [subprocess.Popen([world.directory / "numad-xen", "--bus", world.address, "status", "--json"],
                                 env={**os.environ, "LD_LIBRARY_PATH": str(world.directory)}, stdout=subprocess.PIPE)
                for _ in range(20)]
    outputs = [child.communicate(timeout=60)[0] for child in children]
    tap.equal({child.returncode for child in children}, {0}, "20 clients at once")
    tap.equal({len(json.loads(text)["domains"]) for text in outputs}, {1000}, "each with the whole document")


def test_too_large(tap, world):
    """No user can take the daemon away by asking for more than a message holds."""
    client = Client(world)
    host = four_nodes()
    host["domains"][1]["name"] = "x" * (33 << 20)
    daemon = world.daemon(world.host(host))
    result = client("status", uid=NOBODY if os.geteuid() == 0 else None)
    fails(tap, result, 1, "a status that is larger than a message may be")
    tap.ok("too large" in result.stderr and "33554432" in result.stderr, "which says why", result)
    tap.equal(client("topology").returncode, 0, "and others are answered")
    tap.ok(daemon.running(), "the daemon lives", daemon.log())


run_tests(test_commands, test_other_user, test_no_daemon, test_many, test_too_large)
