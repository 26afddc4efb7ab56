#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""numad-xen place, reservations, commit and release with a daemon: what they print, what they do, how they end."""
import re

from fakedaemon import FakeDaemon, Refusal
from placing import *  # noqa: F403

NUMAD_XEN = str(os.environ.get("NUMAD_XEN") or BUILD / "numad-xen")
PLACE = ("place", "--vcpus", "2", "--memory", "1G", "--type", "pvh")
U1 = "6a9c2a4e-0001-4000-8000-00000000abcd"
DBUS = "org.freedesktop.DBus.Error."


def run(*arguments, **options):
    return subprocess.run([NUMAD_XEN, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def fails(tap, out, exit_status, said, what):
    """It ends so, prints nothing else, and one message that says what is wrong."""
    tap.ok(out.returncode == exit_status and not out.stdout and out.stderr.startswith("numad-xen: ") and
           all(s in out.stderr for s in said) and out.stderr.isascii(), f"{what}: {exit_status}", out)


class Commands:
    """numad-xen on the world's bus."""

    def __init__(self, world):
        self.options = ("--bus", world.address)

    def __call__(self, *arguments):
        return run(*arguments, *self.options)

    def json(self, *arguments):
        out = self(*arguments)
        assert out.returncode == 0 and not out.stderr, out
        return schema.check(out.stdout)


def test_place(tap, world):
    """Text, JSON and xl say the same answer, and what they say is reserved."""
    world.daemon(world.host(four_nodes()))
    cli = Commands(world)
    with world.connect() as bus:
        out = cli(*PLACE, "--name", "web", "--uuid", U1)
        token, = reservations(bus)
        tap.ok(out.returncode == 0 and not out.stderr and token in out.stdout, "text: has the token", out)
        tap.ok(re.search(r"\bnode 0\b", out.stdout, re.I) and "0-1" in out.stdout, "text: node and CPUs", out.stdout)
        tap.ok("\x1b" not in out.stdout and max(map(len, out.stdout.splitlines())) <= 120, "text: lines for people", out.stdout)
        tap.equal([(r["name"], r["uuid"]) for r in reservations(bus).values()], [("web", U1)], "text: what was asked is reserved")
        document = cli.json(*PLACE, "--format", "json")
        tap.equal((document["format"], document["nodes"], document["memory"]),
                  ("numad-xen-placement/1", [2], [{"node": 2, "bytes": GIB}]), "json: the placement document")
        tap.ok(document["token"] in reservations(bus) and document["token"] != token, "json: its token is reserved", document)
        tap.ok(0 < document["expires_ms"] <= 60000 and "candidates" not in document, "json: it expires", document)
        asked = explain(bus, vcpus=2, memory=GIB, type="pvh")
        dry = cli.json(*PLACE, "--dry-run", "--explain", "--format", "json")
        tap.equal(dry, asked, "json: --dry-run --explain is what Explain answers")
        tap.equal(len(reservations(bus)), 2, "and reserves nothing")
        document = cli.json(*PLACE, "--explain", "--format", "json")
        tap.ok(document["candidates"] and document["token"] in reservations(bus), "json: --explain of a real one has candidates",
               document)


def xl_lines(text):
    """The settings of an xl.cfg text, by key, as xl would read them."""
    settings = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, value = (part.strip() for part in line.split("=", 1))
            settings[key] = json.loads(value)
    return settings


def test_xl(tap, world):
    host = four_nodes(pools=[{"pool": 0, "cpus": "0-5"}, {"pool": 1, "cpus": "6-7"}])
    for d in host["domains"]:
        for v in d["vcpus"]:
            v["hard"] = "0-5"
    world.daemon(world.host(host))
    cli = Commands(world)
    with world.connect() as bus:
        out = cli(*PLACE, "--format", "xl", "--uuid", U1)
        lines = xl_lines(out.stdout)
        tap.equal((out.returncode, lines.get("cpus_soft"), lines.get("uuid"), "cpus" in lines, "pool" in lines),
                  (0, ["0-1", "0-1"], U1, False, False), "xl: a soft set for each vCPU, and the UUID")
        token, = reservations(bus)
        tap.ok(token in out.stdout or token in out.stderr, "xl: tells the token where xl does not read it", out)
        lines = xl_lines(cli(*PLACE, "--format", "xl", "--strict", "--nodes", "2").stdout)
        tap.equal((lines.get("cpus"), "cpus_soft" in lines), (["4-5", "4-5"], False), "xl: hard sets with --strict")
        lines = xl_lines(cli("place", "--vcpus", "1", "--memory", "256M", "--format", "xl", "--pool", "1").stdout)
        tap.ok("pool" in lines and lines.get("cpus_soft") == ["6-7"], "xl: the pool that was asked for", lines)


def test_options(tap, world):
    """Each option arrives as its request key."""
    calls = []

    def answer(body):
        calls.append(body[0])
        return Refusal(NOFIT, "node 0 has nothing")

    with FakeDaemon(world.address, {"Place": answer, "Explain": answer}) as fake:
        fake.typed = True
        out = run("place", "--vcpus", "3", "--memory", "1536M", "--max-memory", "2G", "--name", "n \u20ac", "--uuid", U1, "--type", "hvm",
                  "--policy", "pack", "--nodes", "0-1,3", "--cpus", "0-3", "--pool", "1", "--near", "3b:00.0", "--threads", "2",
                  "--ttl", "5000", "--strict", "--bus", world.address)
        fails(tap, out, 3, ["node 0 has nothing"], "what does not fit")
        tap.ok(calls and {k: v for k, v in calls[0].items() if k != "near"} == {
            "vcpus": ("u", 3), "memory": ("t", 1536 * MIB), "max_memory": ("t", 2 * GIB), "name": ("s", "n \u20ac"),
            "uuid": ("s", U1), "type": ("s", "hvm"), "policy": ("s", "pack"), "nodes": ("au", [0, 1, 3]), "cpus": ("s", "0-3"),
            "pool": ("u", 1), "threads_per_core": ("u", 2), "ttl_ms": ("u", 5000), "strict": ("b", True)},
            "every option is a key of the request", calls)
        tap.ok(calls and calls[0]["near"][1] in ("3b:00.0", "0000:3b:00.0"), "the device, too", calls)
        calls.clear()
        run("place", "--vcpus", "1", "--memory", "1G", "--bus", world.address)
        keys = set(calls[0]) if calls else None
        tap.ok(keys in ({"vcpus", "memory"}, {"vcpus", "memory", "strict"}), "what is not asked is not sent", keys)


def test_statuses(tap, world):
    start_daemon(world, "[limits]\nreservations = 2\n")
    cli = Commands(world)
    fails(tap, cli("place", "--vcpus", "1", "--memory", "3G", "--strict"), 3, ["node 0", "node 3", "short"], "NoFit")
    fails(tap, cli("place", "--vcpus", "1", "--memory", "1T", "--dry-run"), 3, ["1.0T"], "NoFit of a dry run")
    fails(tap, cli("place", "--vcpus", "1", "--memory", "1M", "--nodes", "9"), 1, ["nodes", "9"], "a node that is not there")
    fails(tap, cli("place", "--vcpus", "1", "--memory", "1M", "--pool", "9"), 1, ["pool"], "a pool that is not there")
    for arguments in ((), ("--vcpus", "1"), ("--memory", "1G"), ("--vcpus", "0", "--memory", "1G"), ("--vcpus", "x", "--memory", "1G"),
                      ("--vcpus", "1", "--memory", "much"), ("--vcpus", "1", "--memory", "1G", "--policy", "best"),
                      ("--vcpus", "1", "--memory", "1G", "--nodes", "3-1"), ("--vcpus", "1", "--memory", "1G", "--type", "xen"),
                      ("--vcpus", "1", "--memory", "1G", "--format", "yaml"), ("--vcpus", "1", "--memory", "1G", "--uuid", "u"),
                      ("--vcpus", "1", "--memory", "1G", "extra"), ("--vcpus", "1", "--memory", "1G", "--colour"),
                      ("--vcpus", "1", "--memory", "-1G"), ("--vcpus", "1", "--memory", "99999999999T")):
        out = cli("place", *arguments)
        tap.ok(out.returncode == 2 and not out.stdout and out.stderr.startswith("numad-xen: "), f"place {' '.join(arguments)}: usage", out)
    for command in (("commit",), ("commit", "a" * 32), ("commit", "a" * 32, "x"), ("commit", "a" * 32, "1", "2"), ("release",),
                    ("release", "a", "b"), ("reservations", "x"), ("reservations", "--colour")):
        out = cli(*command)
        tap.ok(out.returncode == 2 and not out.stdout, f"{' '.join(command)[:60]}: usage", out)
    fails(tap, cli("commit", "a" * 32, "1"), 1, ["a" * 32], "commit of an unknown token")
    fails(tap, cli("release", "a" * 32), 1, ["a" * 32], "release of an unknown token")
    first = cli.json("place", "--vcpus", "1", "--memory", "1M", "--format", "json")["token"]
    fails(tap, cli("commit", first, "99"), 1, ["99"], "commit of an unknown domain")
    short = cli.json("place", "--vcpus", "1", "--memory", "1M", "--ttl", "1000", "--format", "json")["token"]
    fails(tap, cli("place", "--vcpus", "1", "--memory", "1M"), 1, ["2"], "one reservation too many")
    with world.connect() as bus:
        wait_for(lambda: short not in reservations(bus))
    out = cli("commit", short, "1")
    fails(tap, out, 1, [], "commit of one that has expired")
    tap.ok("over" in out.stderr or "expired" in out.stderr, "which it says", out.stderr)


def test_no_daemon(tap, world):
    commands = (PLACE, (*PLACE, "--dry-run"), ("reservations",), ("reservations", "--json"), ("commit", "a" * 32, "1"),
                ("release", "a" * 32))
    for command in commands:
        fails(tap, run(*command, "--bus", world.address), 4, ["numad-xen: numad-xend is not running"], f"{command[0]}: no daemon")
        fails(tap, run(*command, "--bus", f"unix:path={world.directory}/nothing"), 4, ["numad-xen: cannot reach"], f"{command[0]}: no bus")
    for answer, exit_status in ((Refusal(DENIED, "only root may"), 5), (Refusal(DBUS + "NoReply", "gone"), 4), (("u", [7]), 1),
                                (("sa{sv}", ["x", []]), 1), (("sa{sv}", ["a" * 32, [("nodes", ("s", "x"))]]), 1),
                                (Refusal(ERROR + "Unsupported", "no"), 1), (Refusal(DBUS + "UnknownMethod", "no"), 1),
                                (Refusal("System.Error.ENOSPC", "full"), 1), (Refusal(DBUS + "Failed", "full"), 1),
                                (Refusal(ERROR + "NoFit", "full"), 3)):
        with FakeDaemon(world.address, {"Place": answer}):
            out = run(*PLACE, "--bus", world.address)
            tap.ok(out.returncode == exit_status and not out.stdout and out.stderr.startswith("numad-xen: "),
                   f"place: {answer.name if isinstance(answer, Refusal) else answer} is {exit_status}", out)


def test_not_permitted(tap, world):
    if os.geteuid() != 0:
        tap.skip("another user", "needs root, to become another user")
        return
    world.daemon(world.host(four_nodes()))
    program = world.directory / "numad-xen"  # where every user can reach it, with its library
    shutil.copy(BUILD / ".libs/numad-xen" if (BUILD / ".libs/numad-xen").exists() else NUMAD_XEN, program)
    program.chmod(0o755)
    for library in BUILD.glob(".libs/libnumadxen.so*"):
        shutil.copy(library, world.directory / library.name)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(world.directory)}

    def tries():
        def one(*arguments):
            out = subprocess.run([str(program), *arguments, "--bus", world.address], capture_output=True, text=True, timeout=60,
                                 env=environment, cwd="/")
            return out.returncode, out.stdout, out.stderr
        return [one(*PLACE), one("commit", "a" * 32, "1"), one("release", "a" * 32), one(*PLACE, "--dry-run"), one("reservations")]

    *denied, dry, listed = as_user(NOBODY, tries)
    for what, (exit_status, out, err) in zip(("place", "commit", "release"), denied):
        tap.ok(exit_status == 5 and not out and "not permitted" in err, f"{what} by another user: 5", (exit_status, out, err))
    tap.ok(dry[0] == 0 and "node 0" in dry[1].lower(), "a dry run is anybody's", dry)
    tap.equal(listed[0], 0, "and the list, too")


def test_reservations(tap, world):
    guests = Guests(world)
    guests.daemon = start_daemon(world, "", guests.path())
    cli = Commands(world)
    with world.connect() as bus:
        tap.equal(cli.json("reservations", "--json"), {"format": "numad-xen-reservations/1", "reservations": []}, "none: JSON")
        out = cli("reservations")
        tap.ok(out.returncode == 0 and not out.stderr and out.stdout == "Nothing is reserved.\n", "none: says so", out)
        web, _ = place(bus, vcpus=2, memory=GIB, name="web", type="pvh", uuid=U1)
        evil, _ = place(bus, vcpus=1, memory=3 * GIB, name="\x1b[31mevil\n" + "x" * 200)
        guests.set(bus, 20, [100, 0, 0, 0], uuid=U1, name="web")
        document = cli.json("reservations", "--json")
        tap.equal({r["token"]: (r["name"], r["domid"]) for r in document["reservations"]},
                  {web: ("web", 20), evil: ("\x1b[31mevil\n" + "x" * 200, None)}, "two: JSON")
        tap.equal([{k: v for k, v in r.items() if k != "expires_ms"} for r in document["reservations"]],
                  [{k: v for k, v in r.items() if k != "expires_ms"} for r in status(bus)["reservations"]], "as in the status")
        out = cli("reservations")
        line = next((s for s in out.stdout.splitlines() if web in s), "")
        tap.ok(re.search(r"\bweb\b", line) and re.search(r"\b20\b", line) and "1.0G" in line, "two: the table", out.stdout)
        tap.ok(evil in out.stdout and "\x1b" not in out.stdout and max(map(len, out.stdout.splitlines())) <= 160,
               "a name that is evil does no harm", out.stdout)
        out = cli("status")
        tap.ok(out.returncode == 0 and re.search(f"{web[:20]}.* web .*1.0G", out.stdout), "status tells of them, too", out.stdout)


def test_commit_release(tap, world):
    world.daemon(world.host(four_nodes()))
    cli = Commands(world)
    with world.connect() as bus:
        token = cli.json("place", "--vcpus", "1", "--memory", "1G", "--nodes", "1", "--format", "json")["token"]
        out = cli("commit", token, "1")
        tap.ok(out.returncode == 0 and not out.stderr, "commit", out)
        tap.equal((domain(bus, 1)["placement"]["token"], reservations(bus)), (token, {}), "is done")
        again = cli("commit", token, "1")
        tap.equal((again.returncode, again.stdout, again.stderr), (0, out.stdout, ""), "commit again is the same")
        fails(tap, cli("commit", token, "7"), 1, ["7"], "commit to another domain")
        out = cli("release", token)
        tap.ok(out.returncode == 0 and not out.stderr, "release", out)
        tap.equal(domain(bus, 1)["placement"], None, "is done")
        fails(tap, cli("release", token), 1, [token], "release again")


def test_two_of_a_domain(tap, world):
    """Each call is a reservation of its own: the domain takes the oldest, and a commit of the other says so."""
    guests = Guests(world)
    guests.daemon = start_daemon(world, "", guests.path())
    cli = Commands(world)
    with world.connect() as bus:
        first, second = (place(bus, vcpus=1, memory=GIB, uuid=U1)[0] for _ in range(2))
        guests.set(bus, 20, [100, 0, 0, 0], uuid=U1)
        tap.equal({r["token"]: r["domid"] for r in reservations(bus).values()}, {first: 20, second: None}, "the oldest has the domain")
        tap.equal(cli("commit", first, "20").returncode, 0, "it is committed")
        fails(tap, cli("commit", second, "20"), 1, ["has the placement of another reservation", first, f"release {second}"], "the other")
        fails(tap, cli("commit", first, "7"), 1, [f"reservation {first} is the placement of domain 20 already, and not of domain 7"], "to another domain")
        other = place(bus, vcpus=1, memory=GIB, uuid=new_uuid())[0]
        fails(tap, cli("commit", other, "7"), 1, ["it has another UUID"], "a domain of another UUID")
        tap.equal(cli("release", second).returncode, 0, "it can be released")


def test_from_file(tap, world):
    """A dry run from a file is the daemon's; a real one needs a daemon."""
    path = world.host(four_nodes())
    start_daemon(world, host=path)
    cli = Commands(world)
    for more in ((), ("--strict",), ("--nodes", "1-2", "--policy", "interleave"), ("--threads", "2",), ("--explain",)):
        command = (*PLACE, "--dry-run", "--format", "json", *more)
        asked, read = cli(*command), run(*command, "--host", path)
        tap.ok(asked.returncode == read.returncode == 0, f"{more}: both answer", (asked, read))
        asked, read = json.loads(asked.stdout or "{}"), json.loads(read.stdout or "{}")
        tap.equal(read, asked, f"{more}: file and daemon answer the same")
    out = run(*PLACE, "--host", path)
    tap.ok(out.returncode == 2 and "--dry-run" in out.stderr, "a reservation needs a daemon", out)


run_tests(test_place, test_xl, test_options, test_statuses, test_no_daemon, test_not_permitted, test_reservations, test_commit_release, test_two_of_a_domain,
          test_from_file)
