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


# What a daemon's own trouble is called: it says nothing about the caller or the host's room.
SYSTEM_ERRORS = (*(f"System.Error.{name}" for name in ("ENOSPC", "EPERM", "EACCES", "ENOENT", "EBUSY", "ENOTCONN", "ETIMEDOUT")),
                 *(DBUS + name for name in ("Failed", "FileNotFound", "IOError")))


def test_errors(tap, world):
    cases = {OURS + "UnknownDomain": "ENOENT", OURS + "Unsupported": "EOPNOTSUPP", OURS + "InvalidRequest": "EINVAL",
             OURS + "LimitReached": "EBUSY", OURS + "NoFit": "ENOSPC", OURS + "UnknownToken": "ENOKEY",
             OURS + "Expired": "EKEYEXPIRED", DBUS + "AccessDenied": "EACCES", DBUS + "NoReply": "ETIMEDOUT",
             DBUS + "ServiceUnknown": "ENOTCONN", DBUS + "Spawn.ExecFailed": "ENOTCONN",
             "org.freedesktop.systemd1.NoSuchUnit": "ENOTCONN", DBUS + "UnknownMethod": "ENOSYS",
             **dict.fromkeys((*SYSTEM_ERRORS, "org.example.ENOSPC", "org.example.NoFit"), "EIO")}
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
        tap.ok(answer.startswith("EBADMSG: "), "a version of another type is EBADMSG", answer)
    with FakeDaemon(world.address, {"ListDomains": ("a(usst)", [[]]), "GetDomainMemory": ("a(ut)", [[]])}):
        tap.equal(ask(world.address, "domains")[0], "", "no domains are no domains")
        tap.equal(ask(world.address, "memory", 3)[0], "", "no memory is no memory")


REQUEST = {"vcpus": 2, "memory": 1 << 40, "max_memory": 1 << 41, "name": "web", "type": "pvh", "policy": "pack",
           "uuid": "01234567-89ab-cdef-0123-456789abcdef", "nodes": [1, 3], "cpus": "0-7", "pool": 0, "strict": True,
           "near": "0000:3b:00.0", "ttl_ms": 5000, "threads_per_core": 2}
TOKEN = "0123456789abcdef" * 2
PLACEMENT = {"reason": ("s", 'because "so"\n'), "nodes": ("au", [1, 3]), "memory": ("a(ut)", [(1, 5), (3, 6)]),
             "overhead": ("t", 7), "vcpus": ("a(uss)", [(0, "0-7", "2-3"), (1, "0-7", "")]), "extent_order": ("u", 9),
             "expected_locality": ("d", 0.25), "expires_ms": ("u", 60000), "later": ("a{sv}", [("x", ("u", 1))])}
DOCUMENT = {"format": "numad-xen-placement/1", "token": TOKEN, "nodes": [1, 3],
            "memory": [{"node": 1, "bytes": 5}, {"node": 3, "bytes": 6}], "overhead": 7,
            "vcpus": [{"vcpu": 0, "hard": "0-7", "soft": "2-3"}, {"vcpu": 1, "hard": "0-7", "soft": ""}], "extent_order": 9,
            "expected_locality": 0.25, "reason": 'because "so"\n', "expires_ms": 60000}


def test_place(tap, world):
    """A request as it was set, and an answer as a document, once, whatever interrupts."""
    calls = []

    def answer(body):
        calls.append(body)
        time.sleep(0.5)
        return "sa{sv}", [TOKEN, list(PLACEMENT.items())]

    with FakeDaemon(world.address, {"Place": answer, "Explain": ("s", ["{}"])}):
        token, _, document = ask(world.address, "place")[0].partition(" ")
        tap.equal(calls, [[REQUEST]], "numadx_place sends every key, once, through signals that are handled")
        tap.equal((token, json.loads(document)), (TOKEN, DOCUMENT), "its answer is the placement document")
        tap.equal(list(json.loads(document)), list(DOCUMENT), "in the document's own order")
        tap.equal(ask(world.address, "explain")[0], "{}", "numadx_explain")


def test_part_of_an_answer(tap, world):
    """What a daemon does not tell is null, and without nodes, memory and vCPUs there is no placement."""
    for key in PLACEMENT:
        rest = [item for item in PLACEMENT.items() if item[0] != key]
        with FakeDaemon(world.address, {"Place": ("sa{sv}", [TOKEN, rest])}):
            answer, _ = ask(world.address, "place")
        if key in ("nodes", "memory", "vcpus"):
            tap.ok(answer.startswith("EBADMSG: "), f"no {key} is EBADMSG", answer)
        else:
            wanted = DOCUMENT if key == "later" else {**DOCUMENT, key: None}
            tap.equal(json.loads(answer.partition(" ")[2]), wanted, f"no {key} is null")
    for key in PLACEMENT:
        wrong = {**PLACEMENT, key: ("as", ["x"])}
        with FakeDaemon(world.address, {"Place": ("sa{sv}", [TOKEN, list(wrong.items())])}):
            answer, _ = ask(world.address, "place")
        tap.ok(answer.startswith("EBADMSG: ") == (key != "later"), f"{key} of another type", answer)
    for number in (float("nan"), float("inf")):
        odd = {**PLACEMENT, "expected_locality": ("d", number)}
        with FakeDaemon(world.address, {"Place": ("sa{sv}", [TOKEN, list(odd.items())])}):
            answer, _ = ask(world.address, "place")
        tap.equal(json.loads(answer.partition(" ")[2]), {**DOCUMENT, "expected_locality": None}, f"{number} is null")


def test_placing_errors(tap, world):
    cases = {OURS + "NoFit": "ENOSPC", OURS + "InvalidRequest": "EINVAL", OURS + "UnknownToken": "ENOKEY",
             OURS + "Expired": "EKEYEXPIRED", OURS + "LimitReached": "EBUSY", OURS + "UnknownDomain": "ENOENT",
             DBUS + "AccessDenied": "EACCES"}
    cases.update(dict.fromkeys(SYSTEM_ERRORS, "EIO"))
    for name, errno_name in cases.items():
        with FakeDaemon(world.address, dict.fromkeys(("Place", "Explain", "Commit", "Release"), Refusal(name, "the reason"))):
            for what in (["place"], ["explain"], ["commit", TOKEN, 1], ["release", TOKEN]):
                answer, _ = ask(world.address, *what)
                tap.ok(answer.startswith(errno_name + ": ") and answer.endswith(": the reason"),
                       f"{what[0]}: {name} is {errno_name}, and the reason is told", answer)
    calls = []
    with FakeDaemon(world.address, {"Commit": lambda body: calls.append(body) or ("", []),
                                    "Release": lambda body: calls.append(body) or ("", [])}):
        tap.equal((ask(world.address, "commit", TOKEN, 7)[0], ask(world.address, "release", TOKEN)[0]), ("", ""),
                  "numadx_commit and numadx_release say nothing")
        tap.equal(calls, [[TOKEN, 7], [TOKEN]], "numadx_commit and numadx_release ask for it")


def test_daemon_goes(tap, world):
    """One that goes away under a call is not waited for."""
    def leave(body):
        daemon.stopped = True
        daemon.socket.close()

    daemon = FakeDaemon(world.address, {"Place": leave})
    answer, seconds = ask(world.address, "place")
    tap.ok(answer.startswith(("ETIMEDOUT: numad-xend did not answer: ", "ENOTCONN: ")) and seconds < 10,
           "a daemon that goes away under Place", (answer, seconds))


run_tests(test_place, test_part_of_an_answer, test_placing_errors, test_daemon_goes, test_answers, test_unsupported, test_nobody, test_silence, test_errors, test_nonsense)
