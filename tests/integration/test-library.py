#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libnumadxen against the daemon, and against everything that is not the daemon."""
import xml.etree.ElementTree as ElementTree

from world import *  # noqa: F403
from fakedaemon import FakeDaemon, Refusal

ASK = BUILD / "tests/integration/ask"
OURS, DBUS = NAME + ".Error.", "org.freedesktop.DBus.Error."


def ask(address, *arguments):
    """What the library says, and how long that took."""
    start = time.monotonic()
    out = subprocess.run([str(ASK), address, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return out.stdout.rstrip("\n"), time.monotonic() - start


def test_answers(tap, world):
    world.daemon(world.host(four_nodes()))
    tap.equal(json.loads(ask(world.address, "status")[0])["format"], "numad-xen-status/1", "numadx_get_status")
    tap.equal(json.loads(ask(world.address, "topology")[0])["format"], "numad-xen-topology/1", "numadx_get_topology")
    xml = ElementTree.fromstring(ask(world.address, "hwloc")[0])
    tap.equal((xml.tag, xml.get("version"), len(xml.findall(".//object[@type='NUMANode']"))), ("topology", "2.0", 4),
              "numadx_get_topology_xml")
    with world.connect() as bus:
        tap.equal(ask(world.address, "version")[0], get(bus, "Version"), "numadx_get_version")
    tap.equal(ask(world.address, "domains")[0].split("\n"),
              [f"0|Domain-0||{4000 * 4096}", f"1|g1|11111111-2222-3333-4444-555555555555|{1 << 30}",
               f"7|g7||{3 * 4096}"], "numadx_list_domains")
    tap.equal(ask(world.address, "memory", 7)[0], "0|4096\n3|8192", "numadx_get_domain_memory")
    tap.ok(ask(world.address, "memory", 2)[0].startswith("ENOENT: "), "a domain that is not there is ENOENT")


def test_unsupported(tap, world):
    world.daemon(world.host(four_nodes(features=[])))
    answer = ask(world.address, "memory", 1)[0]
    tap.ok(answer.startswith("EOPNOTSUPP: "), "memory that is not known is EOPNOTSUPP", answer)


def test_nobody(tap, world):
    wanted = f"ENOTCONN: numad-xend is not running on the bus {world.address}: start numad-xend --bus {world.address}"
    for what in ("status", "hwloc", "version", "domains", "memory"):
        tap.equal(ask(world.address, what)[0], wanted, f"{what}: no daemon is ENOTCONN")
    folder = world.directory / "folder"
    folder.mkdir()
    for address in ("unix:path=/nothing/here", f"unix:path={folder}", "nonsense", "nonsense:;tcp", "unix:",
                    "tcp:host=127.0.0.1,port=1"):
        answer, _ = ask(address, "status")
        tap.ok(answer.startswith("ENOTCONN: "), f"no bus at {address.replace(str(folder), 'a folder')} is ENOTCONN",
               answer)
    for address in ("nonsense", "nonsense:;tcp", "unixpath=/run/bus"):
        tap.equal(ask(address, "status")[0], f"ENOTCONN: '{address}' is not a D-Bus address: give one like "
                  "unix:path=/run/dbus/system_bus_socket", f"{address}: what is no address is told")
    answer, _ = ask(f"autolaunch:;unix:path={world.directory}/bus", "status")
    tap.ok("is not running on the bus" in answer, "one good alternative makes an address", answer)


def test_silence(tap, world):
    """Nobody waits longer than 5 s, neither for a bus nor for an answer."""
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(f"{world.directory}/deaf")
        deaf.listen()
        answer, seconds = ask(f"unix:path={world.directory}/deaf", "status")
        tap.ok(answer.startswith("ETIMEDOUT: "), "a bus that says nothing is ETIMEDOUT", answer)
        tap.ok(answer.endswith(f"no answer from the bus unix:path={world.directory}/deaf in 5 s: see whether dbus-daemon "
                               "hangs"), "a bus that says nothing is named", answer)
        tap.ok(4.5 < seconds < 15, "a bus that says nothing is given 5 s", seconds)
    with FakeDaemon(world.address, {"GetStatus": None, "Get": None}):
        for what in ("status", "version"):
            answer, seconds = ask(world.address, what)
            tap.equal(answer, f"ETIMEDOUT: no answer from numad-xend on the bus {world.address} in 5 s: start it again if "
                      "it hangs", f"{what}: a daemon that says nothing is ETIMEDOUT")
            tap.ok(4.5 < seconds < 15, f"{what}: a daemon that says nothing is given 5 s", seconds)


def test_errors(tap, world):
    cases = {OURS + "UnknownDomain": "ENOENT", OURS + "Unsupported": "EOPNOTSUPP", OURS + "InvalidRequest": "EINVAL",
             OURS + "LimitReached": "EBUSY", OURS + "NoFit": "ENOSPC", OURS + "UnknownToken": "ENOKEY",
             OURS + "Expired": "EKEYEXPIRED", DBUS + "AccessDenied": "EACCES", DBUS + "NoReply": "ETIMEDOUT",
             DBUS + "ServiceUnknown": "ENOTCONN", DBUS + "Spawn.ExecFailed": "ENOTCONN",
             "org.freedesktop.systemd1.NoSuchUnit": "ENOTCONN", DBUS + "UnknownMethod": "ENOSYS"}
    for name, errno_name in cases.items():
        with FakeDaemon(world.address, {"GetDomainMemory": Refusal(name, "the reason")}):
            answer, _ = ask(world.address, "memory", 1)
        tap.ok(answer.startswith(errno_name + ": "), f"{name} is {errno_name}", answer)
        if errno_name != "ENOTCONN":
            tap.ok(answer.endswith(": the reason"), f"{name}: the reason is told", answer)


def test_nonsense(tap, world):
    answers = {"GetStatus": ("u", [7]), "GetTopology": ("as", [["a"]]), "GetTopologyXML": ("au", [[60]]),
               "ListDomains": ("a(us)", [[(1, "x")]]),
               "GetDomainMemory": ("", []), "Get": ("v", [("u", 7)])}
    with FakeDaemon(world.address, answers):
        for what in ("status", "topology", "hwloc", "domains", "memory"):
            answer, _ = ask(world.address, what)
            tap.ok(answer.startswith("EBADMSG: "), f"{what}: an answer of another type is EBADMSG", answer)
        answer, _ = ask(world.address, "version")
        tap.ok(": numad-xend: " in answer, "a version of another type is an error", answer)
    with FakeDaemon(world.address, {"ListDomains": ("a(usst)", [[]]), "GetDomainMemory": ("a(ut)", [[]])}):
        tap.equal(ask(world.address, "domains")[0], "", "no domains are no domains")
        tap.equal(ask(world.address, "memory", 3)[0], "", "no memory is no memory")


run_tests(test_answers, test_unsupported, test_nobody, test_silence, test_errors, test_nonsense)
