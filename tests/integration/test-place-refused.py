#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests that are refused: who may not, and what makes no sense; the daemon names the key and stays small."""
import re

from placing import *  # noqa: F403

GOOD = {"vcpus": 1, "memory": MIB}
MANY = "[limits]\nrequests_per_s = 100000\nreservations = 10000\nper_uid = 10000\n"
# A value of each type that a caller may send where another belongs.
VALUES = {"y": 1, "b": True, "n": 1, "q": 1, "i": 1, "u": 1, "x": 1, "t": 1, "d": 1.0, "s": "1", "o": "/1", "g": "u",
          "v": ("u", 1), "au": [1], "as": ["1"], "ay": [1], "at": [1], "aau": [[1]], "(u)": (1,), "a{sv}": [], "a(ut)": [(1, 1)]}
ALLOW_ALL = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy context="mandatory"><allow own="*"/><allow send_destination="*"/></policy></busconfig>
"""


def refused(bus, keys):
    """Why Place refuses it; "" when it does not. A list of pairs may have a key twice."""
    pairs = request(**keys) if isinstance(keys, dict) else keys
    name, text = failure(bus.call, NAME, PATH, INTERFACE, "Place", "a{sv}", [pairs])
    return f"{name.removeprefix(ERROR)}: {text}" if name else ""


def names_key(tap, bus, key, keys, what):
    said = refused(bus, keys)
    tap.ok(said.startswith(f"InvalidRequest: {key}: ") and len(said) < 500 and said.isprintable(), what, said[:600])


def test_unprivileged(tap, world):
    if os.geteuid() != 0:
        tap.skip("another user is refused", "needs root, to become another user")
        return
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        token, _ = place(bus, **GOOD)

    def tries():
        with world.connect() as bus:
            return [error_of(place, bus, **GOOD), error_of(commit, bus, token, 1), error_of(release, bus, token),
                    error_of(bus.call, NAME, PATH, SIM, "Destroy", "u", [1]), explain(bus, **GOOD)["token"],
                    list(reservations(bus))]

    wanted = [DENIED] * 4 + [None, [token]]
    tap.equal(as_user(NOBODY, tries), wanted, "another user may Explain, and neither Place, Commit nor Release")
    (world.directory / "policy.conf").write_text(ALLOW_ALL)
    with world.connect() as bus:
        bus.driver("ReloadConfig")
    tap.equal(as_user(NOBODY, tries), wanted, "nor where the bus would let him: the daemon asks who he is")
    with world.connect() as bus:
        tap.equal((list(reservations(bus)), len(status(bus)["domains"])), ([token], 3), "nothing has changed")


def test_types(tap, world):
    """Every other type for every key."""
    start_daemon(world, MANY)
    with world.connect() as bus:
        for key, right in REQUEST_TYPES.items():
            wrong = {}
            for kind, value in VALUES.items():
                if kind != right:
                    said = refused(bus, {**GOOD, key: (kind, value)})
                    if not said.startswith(f"InvalidRequest: {key}: ") or f"'{right}'" not in said and right not in said:
                        wrong[kind] = said
            tap.equal(wrong, {}, f"{key}: any type but {right} is refused by name, with the one it has")
        tap.equal(status(bus)["reservations"], [], "nothing was reserved")
        for signature, arguments in (("", []), ("s", ["x"]), ("a{ss}", [[("vcpus", "1")]]), ("a{sv}s", [[], "x"])):
            tap.equal(error_of(bus.call, NAME, PATH, INTERFACE, "Place", signature, arguments),
                      "org.freedesktop.DBus.Error.InvalidArgs", f"Place({signature}) is no call of it")
        for member, signature, arguments in (("Commit", "s", ["x"]), ("Commit", "si", ["x", 1]), ("Release", "u", [1])):
            tap.equal(error_of(bus.call, NAME, PATH, INTERFACE, member, signature, arguments),
                      "org.freedesktop.DBus.Error.InvalidArgs", f"{member}({signature}) is no call of it")


def test_values(tap, world):
    """Values of the right type that no domain can have, or that this host does not have."""
    host = four_nodes(devices=[{"pci": "0000:3b:00.0", "node": 3}])
    host["nodes"][2].update(size=0, free=0)
    start_daemon(world, MANY, host)
    top32, top64 = 2**32 - 1, 2**64 - 1
    odd = ["", "x", "xen", "\u20ac" * 50, "ab" + "\u20ac" * 50, "\n", "\u20ac", "a" * 1000, "%s%n", "1 ", "\x1b[31m"]
    values = {
        "vcpus": [0, 8193, top32], "memory": [0, 2**56 + 1, top64], "max_memory": [1, MIB - 1, 2**56 + 1, top64],
        "ttl_ms": [1, 999, 86400001, top32], "threads_per_core": [17, top32], "pool": [1, top32 - 1],
        "nodes": [[], [4], [2], [0, 4], [top32], [top32, 0, 1]],
        "cpus": ["", "-1", "3-1", "1,,2", "1-", "0x1", "all", "4294967296", "0-4294967295", "1;2", " ", "\u0661"],
        "uuid": [*odd, "1" * 36, "11111111-2222-3333-4444-55555555555", "g1111111-2222-3333-4444-555555555555",
                 "11111111-2222-3333-4444-5555555555555", "{11111111-2222-3333-4444-555555555555}"],
        "type": odd, "policy": odd, "near": [*odd, "3b:00", "0000:3b:00.8", "0000:3b:20.0", "0000:3c:00.0"],
        "name": ["", "a" * 256, "\u20ac" * 86],
    }
    with world.connect() as bus:
        for key, bad in values.items():
            for value in bad:
                names_key(tap, bus, key, {**GOOD, key: value}, f"{key}: {str(value)[:40]!r}")
        names_key(tap, bus, "vcpus", {"memory": MIB}, "vcpus may not be left out")
        names_key(tap, bus, "memory", {"vcpus": 1}, "memory may not be left out")
        tap.ok(refused(bus, {}).startswith("InvalidRequest: vcpus: "), "an empty request")
        names_key(tap, bus, "max_memory", {**GOOD, "max_memory": MIB - 4096}, "max_memory below memory")
        tap.equal(status(bus)["reservations"], [], "nothing was reserved")
        for key, value in (("name", "a" * 255), ("name", "tab\there \"quoted\" \\ \u20ac <&>"), ("ttl_ms", 1000),
                           ("ttl_ms", 86400000), ("threads_per_core", 16), ("max_memory", MIB), ("cpus", "0-7"),
                           ("cpus", "7,1,0-2"), ("nodes", [3, 0, 3]), ("near", "3B:00.0"), ("uuid", new_uuid().upper())):
            tap.equal(refused(bus, {**GOOD, key: value}), "", f"{key}: {str(value)[:40]!r} is good")
        tap.equal(len(status(bus)["reservations"]), 11, "and reserved")


def test_keys(tap, world):
    """Keys that there are not, or twice."""
    start_daemon(world, MANY)
    with world.connect() as bus:
        for key in ("colour", "Vcpus", "vcpus ", "memory_", "domid", "token", "a", "\u20ac"):
            names_key(tap, bus, key, [*request(**GOOD), (key, ("u", 1))], f"{key!r}: an unknown key")
        for key in ("", "\x1b[31m", "\n", "a" * MIB, "a\x01" * 1000, "\u20ac" * 50, "a" + "\u20ac" * 50):
            said = refused(bus, [*request(**GOOD), (key, ("u", 1))])
            tap.ok(said.startswith("InvalidRequest: ") and len(said) < 1000 and said.isprintable(),
                   f"{key[:6]!r}: a key that cannot be shown as it is", said[:1000])
        for key in "vcpus", "memory", "name":
            pairs = request(**GOOD, name="n")
            names_key(tap, bus, key, pairs + [p for p in pairs if p[0] == key], f"{key}: twice")
        said = refused(bus, [(f"key{i}", ("u", i)) for i in range(100000)])
        tap.ok(said.startswith("InvalidRequest: key0: "), "a hundred thousand keys", said[:200])
        said = refused(bus, [("vcpus", ("u", 1))] * 100000)
        tap.ok(said.startswith("InvalidRequest: vcpus: "), "a hundred thousand times the same", said[:200])


def test_explain_too(tap, world):
    """Explain refuses the same, by the same words."""
    start_daemon(world, MANY)
    with world.connect() as bus:
        for keys in ({**GOOD, "colour": ("u", 1)}, {**GOOD, "memory": ("u", 1)}, {**GOOD, "nodes": [9]}, {"vcpus": 1},
                     {**GOOD, "cpus": "x"}):
            name, text = failure(explain, bus, **keys)
            tap.equal(f"{str(name).removeprefix(ERROR)}: {text}", refused(bus, keys), f"Explain of {keys}")


def test_large(tap, world):
    """What a caller makes large is not kept, not copied without need, not repeated in answers."""
    daemon = start_daemon(world, MANY)
    with world.connect() as bus:
        place(bus, **GOOD)
        explain(bus, **GOOD)
        before = memory_mib(daemon)
        large = {"nodes": ("au", list(range(100000))), "name": ("s", "n" * (4 << 20)), "cpus": ("s", "0," * (2 << 20) + "0"),
                 "near": ("s", "\u20ac" * MIB), "uuid": ("s", "1" * MIB), "policy": ("s", "p" * MIB), "type": ("s", "t" * MIB)}
        for key, value in large.items():
            start = time.monotonic()
            said = refused(bus, {**GOOD, key: value})
            took = time.monotonic() - start
            good = key == "cpus" and said == "" or said.startswith(f"InvalidRequest: {key}: ")
            tap.ok(good and len(said) < 500, f"{key} of {len(value[1])}", said[:600])
            tap.ok(took < 2, f"{key} of {len(value[1])}: at once", took)
        said = refused(bus, {**GOOD, "nodes": ("au", [0] * 100000)})
        tap.ok(said == "" or said.startswith("InvalidRequest: nodes: "), "the same node a hundred thousand times", said[:200])
        cpus = ",".join(str(n) for n in range(0, 2 * 10**5, 2))
        said = refused(bus, {**GOOD, "cpus": cpus})
        tap.ok(said.startswith("InvalidRequest: cpus: "), "more CPUs than there can be", said[:200])
        deep = ("u", 1)
        for _ in range(60):
            deep = ("v", deep)
        with world.connect() as other:  # the bus may throw its sender out, which is no matter of ours
            try:
                said = refused(other, {**GOOD, "vcpus": deep})
            except ConnectionError:
                said = "InvalidRequest: "
            tap.ok(said.startswith("InvalidRequest: "), "a value in sixty wrappings", said[:200])
        tap.ok(daemon.running() and explain(bus, **GOOD), "the daemon goes on", daemon.log()[-2000:])
        if SANITIZED:
            tap.skip("and stays small", "the sanitizers keep what was freed")
        else:
            after = memory_mib(daemon)
            tap.ok(after < before + 24, "and stays small", f"{before:.1f} to {after:.1f} MiB")


def answered(bus):
    """The token of a request that may find the queue full."""
    try:
        return place(bus, **GOOD)[0]
    except BusError as error:
        assert error.name == LIMIT_REACHED, error
        return None


def test_flood(tap, world):
    """Thousands of bad requests from several at once; good ones in between are answered."""
    daemon = start_daemon(world, MANY)
    bad = [request(**{**GOOD, "colour": ("s", "x" * 1000)}), request(vcpus=0, memory=1), request(**{**GOOD, "nodes": [77]}),
           request(vcpus=1, memory=1 << 55), request(**{**GOOD, "memory": ("s", "1G")})]
    with contextlib.ExitStack() as stack:
        flooders = [stack.enter_context(world.connect()) for _ in range(6)]
        bus = stack.enter_context(world.connect())
        place(bus, **GOOD)
        before = memory_mib(daemon)
        sent = [(flooder, flooder.send(NAME, PATH, INTERFACE, "Place", "a{sv}", [bad[(i + n) % len(bad)]]))
                for i in range(500) for n, flooder in enumerate(flooders)]
        start = time.monotonic()
        token = wait_for(lambda: answered(bus))
        tap.ok(token and time.monotonic() - start < PATIENCE, "a good request in the flood is answered", time.monotonic() - start)
        release(bus, token)
        errors = collections.Counter(error_of(flooder.answer, serial) for flooder, serial in sent)
        tap.ok(set(errors) <= {INVALID, NOFIT, LIMIT_REACHED} and sum(errors.values()) == 3000,
               "each of three thousand is answered and refused", errors)
        tap.equal(len(status(bus)["reservations"]), 1, "none of them has reserved")
        if SANITIZED:
            tap.skip("and the daemon stays small", "the sanitizers keep what was freed")
        else:
            after = memory_mib(daemon)
            tap.ok(after < before + 16, "and the daemon stays small", f"{before:.1f} to {after:.1f} MiB")
        tap.ok(daemon.running(), "and lives", daemon.log()[-2000:])


run_tests(test_unprivileged, test_types, test_values, test_keys, test_explain_too, test_large, test_flood)
