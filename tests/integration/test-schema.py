#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The schemas in proto/ against every document there is, against documents with one thing wrong, and the host
description's against what numad-xen itself takes and refuses."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NX_BUILDDIR") or TOP).resolve()
sys.path.insert(0, str(TOP / "tests"))

import schema  # noqa: E402
from tap import Tap  # noqa: E402

NUMAD_XEN = str(os.environ.get("NUMAD_XEN") or BUILD / "numad-xen")
HOSTS = sorted((TOP / "tests/golden/hosts").glob("*.json")) + sorted((TOP / "examples").glob("*.json"))
GONE = object()
TOKEN = "0123456789abcdef" * 2


def run(*arguments):
    out = subprocess.run([NUMAD_XEN, *map(str, arguments)], capture_output=True, timeout=60)
    return json.loads(out.stdout.decode("utf-8"))


def documents_of(path):
    """All that numad-xen makes of a host description."""
    yield "host description", json.loads(path.read_text(encoding="utf-8", errors="replace"))
    for command in ("status", "topology", "doctor"):
        yield command, run(command, "--json", "--host", path)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([NUMAD_XEN, "gather", folder, "--host", path], check=True, capture_output=True, timeout=60)
        yield "capture", json.loads(pathlib.Path(folder, "host.json").read_text(encoding="utf-8"))


def test_every_document(tap):
    for path in HOSTS:
        for what, document in documents_of(path):
            found = schema.faults(document)
            tap.ok(not found, f"{path.stem}: {what} is as its schema says", "\n".join(found))


# --- one thing wrong ---

def places(value, path=()):
    """Every value in a document, by its path."""
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def shape(path):
    return tuple("*" if isinstance(p, int) else p for p in path)


def unlike(document):
    """The first place of each shape and type: what is true of one element is true of the next."""
    seen = {}
    for path, value in places(document):
        seen.setdefault((shape(path), type(value)), (path, value))
    return seen.values()


def changed(document, path, value):
    document = copy.deepcopy(document)
    if not path:
        return value
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return document


def text_of(path):
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")


def wrong_types(value):
    """Values of every other type; numbers of either kind are one type, and null is one where it may stand."""
    for other in ("text", True, 1.5, [], {}):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (isinstance(other, type(value)) or (number and isinstance(other, float))):
            yield other


def full_documents():
    """A document of each kind, with something in every array."""
    path = TOP / "tests/golden/hosts/four-nodes.json"
    status = run("status", "--json", "--host", path)
    status["time"] = "2026-01-01T00:00:00Z"
    status["domains"][1]["placement"] = {"token": TOKEN, "nodes": [1], "kept": True}
    status["domains"][1]["uuid"] = "00112233-4455-6677-8899-aabbccddeeff"
    status["reservations"] = [{"token": TOKEN, "name": "n", "uuid": status["domains"][1]["uuid"], "overhead": 1,
                               "memory": [{"node": 1, "bytes": 1}], "domid": 1, "expires_ms": 1}]
    placement = run("place", "--vcpus", 2, "--memory", "1G", "--dry-run", "--explain", "--format", "json", "--host", path)
    placement |= {"token": TOKEN, "expires_ms": 1, "extent_order": 9}
    return (status, run("topology", "--json", "--host", path), run("doctor", "--json", "--host", path), placement,
            {"format": "numad-xen-reservations/1", "reservations": copy.deepcopy(status["reservations"])})


def mutants(document):
    for path, value in unlike(document):
        name = text_of(path) or "document"
        if path and isinstance(path[-1], str):
            yield f"{name} is missing", changed(document, path, GONE)
        if isinstance(value, dict):
            yield f"{name} has a key more", changed(document, (*path, "colour"), 1)
        for other in wrong_types(value):
            if value is not None or not path:
                yield f"{name} is {other!r}", changed(document, path, other)


def test_mutants(tap):
    for document in full_documents():
        kind = document["format"]
        tap.equal(schema.faults(document), [], f"{kind}: the document to change is good")
        passed = [what for what, mutant in mutants(document) if not schema.faults(mutant)]
        # A ratio may be 1.5, and an integer in its place; candidates are there when they were asked for.
        allowed = ("candidates is missing", "vcpus is 1.5", "sum is 1.5", "le is 1.5", "last_collection is 1.5", "domid is 1.5")
        tap.equal([p for p in passed if not p.endswith(allowed)], [], f"{kind}: every change is refused")


WRONG = [  # format, path, value
    ("status", "format", "numad-xen-status/2"), ("status", "generation", 0), ("status", "generation", 2**64),
    ("status", "time", "2026-01-01 00:00:00"), ("status", "time", "2026-01-01T00:00:00Z\n"), ("status", "host.backend", "kvm"),
    ("status", "host.max_cpu_id", 8192), ("status", "host.features", ["claims", "claims"]),
    ("status", "host.features", ["Claims"]), ("status", "host.warnings.0.code", "Two Words"),
    ("status", "host.warnings.0.text", ""), ("status", "host.memory.total", -1), ("status", "nodes.0.node", 1024),
    ("status", "nodes.0.kind", "cpu-memory"), ("status", "nodes.0.cpus", "1,0"), ("status", "nodes.0.cpus", "0,1"),
    ("status", "nodes.0.cpus", "0-0"), ("status", "nodes.0.cpus", "00"), ("status", "nodes.0.cpus", "0-1\n"),
    ("status", "nodes.0.cpus", "0-1,2-3"), ("status", "nodes.0.cpus", None), ("status", "nodes.0.memory.free", None),
    ("status", "nodes.0.distances", []), ("status", "nodes.0.distances.1", 9), ("status", "nodes.0.distances.1", 4294967295),
    ("status", "nodes.0.free_chunks.0.count", 0), ("status", "nodes.0.vcpus", -0.5), ("status", "nodes.0.vcpus", None),
    ("status", "domains.0.domid", 32752), ("status", "domains.0.uuid", "00112233445566778899aabbccddeeff"),
    ("status", "domains.0.uuid", "00112233-4455-6677-8899-AABBCCDDEEFF"), ("status", "domains.0.uuid", ""),
    ("status", "domains.0.type", "pv-in-pvh"), ("status", "domains.0.state", None), ("status", "domains.0.locality", 1.01),
    ("status", "domains.0.memory.nodes.0.bytes", 0), ("status", "domains.0.vcpu_affinity.0.cpu", 8192),
    ("status", "domains.1.placement.kept", "yes"), ("status", "domains.1.placement.token", ""),
    ("status", "devices.0.pci", "3b:00.0"), ("status", "devices.0.pci", "0000:3B:00.0"), ("status", "stats.since", None),
    ("status", "stats.collection_seconds.buckets.0.le", 0), ("status", "stats.placements.placed", None),
    ("topology", "format", "numad-xen-status/1"), ("topology", "cpus.0.cpu", 8192), ("topology", "cpus.0.core", 4294967295),
    ("topology", "cpus.0.siblings", None), ("topology", "pools.0.cpus", "0,1"), ("topology", "dom0", []),
    ("topology", "dom0.nodes", None), ("topology", "nodes.0.pxm", 2**32),
    ("placement", "nodes", []), ("placement", "nodes", [1, 1]), ("placement", "nodes.0", 1024),
    ("placement", "token", "0123456789ABCDEF" * 2), ("placement", "token", "0123"), ("placement", "memory", []),
    ("placement", "memory.0.bytes", 0), ("placement", "vcpus.0.soft", "1,0"), ("placement", "vcpus.0.hard", None),
    ("placement", "expected_locality", 1.01), ("placement", "reason", ""), ("placement", "overhead", None),
    ("placement", "candidates.0.refused_by", "weather"), ("placement", "candidates.0.rank", 0),
    ("placement", "candidates.0.worst_distance", 255), ("placement", "candidates", [{}] * 65),
    ("reservations", "reservations.0.domid", 32752), ("reservations", "reservations.0.memory", []),
    ("reservations", "reservations.0.token", ""), ("reservations", "reservations", None),
    ("doctor", "checks.0.code", ""), ("doctor", "checks.0.text", ""), ("doctor", "checks.0.ok", None),
    ("doctor", "checks.0", {"code": "x", "ok": False, "text": "bad", "fix": ""}),
]


def path_of(text):
    return tuple(int(p) if p.isdigit() else p for p in text.split("."))


def test_wrong(tap):
    good = dict(zip(("status", "topology", "doctor", "placement", "reservations"), full_documents()))
    for kind, path, value in WRONG:
        found = schema.faults(changed(good[kind], path_of(path), value))
        tap.ok(found, f"{kind}: {path} of {value!r} is refused")
    tap.ok(schema.faults({"format": "numad-xen-none/1x"}) and schema.faults([]), "no format is refused")


def test_null(tap):
    """Nulls where the contract has them, and nowhere else."""
    nullable = {"status": "time host.xen_version host.memory.total host.memory.free host.memory.claimed nodes.*.pxm "
                          "nodes.*.memory.present nodes.*.memory.low nodes.*.memory.dirty nodes.*.memory.claimed "
                          "nodes.*.free_chunks nodes.*.distances.* domains.*.name domains.*.uuid domains.*.type domains.*.pool "
                          "domains.*.memory.total domains.*.memory.nodes domains.*.node_affinity domains.*.vcpus domains.*.vcpu_affinity "
                          "domains.*.vcpu_affinity.*.cpu domains.*.locality domains.*.placement domains.*.placement.kept "
                          "devices.*.node reservations.*.token reservations.*.name reservations.*.uuid "
                          "reservations.*.domid reservations.*.expires_ms stats.*.buckets.*.le stats.last_collection",
                "topology": "host.xen_version host.memory.total host.memory.free host.memory.claimed nodes.*.pxm "
                            "nodes.*.distances.* cpus.*.core cpus.*.socket cpus.*.node devices.*.node dom0",
                "doctor": "",
                "placement": "token extent_order expected_locality expires_ms candidates.*.refused_by "
                             "candidates.*.worst_distance candidates.*.mean_distance candidates.*.vcpus_per_core",
                "reservations": "reservations.*.token reservations.*.name reservations.*.uuid reservations.*.domid "
                                "reservations.*.expires_ms"}
    for document in full_documents():
        kind = document["format"].split("-")[2].split("/")[0]
        found = {".".join(shape(path)) for path, _ in places(document)
                 if path and not schema.faults(changed(document, path, None))}
        found = {"stats.*.buckets.*.le" if f.endswith("buckets.*.le") else f for f in found}
        tap.equal(sorted(found ^ set(nullable[kind].split())), [], f"{kind}: null stands where it may")


# --- the same verdict ---

HOST = {
    "format": "numad-xen-host/1", "xen_version": "4.17.5", "page_size": 4096, "features": ["node-pages", "claims"],
    "max_cpu_id": 5, "memory": {"total": 7, "free": 5, "claimed": 1}, "dom0": {"nodes": 1, "cpus": 2},
    "topology": [{"cpu": 0, "core": 0, "socket": 0, "node": 0}, {"cpu": 1, "core": 4294967295, "socket": 4294967295,
                                                                 "node": 4294967295}],
    "nodes": [{"size": 100, "free": 90, "distances": [10, 20, -1]},
              {"size": 4294967295, "free": 4294967295, "distances": [255, 4294967295, 18446744073709551615]},
              {"size": 0, "free": 0, "distances": [20, 4, 10]}],
    "node_extra": [{"present": 80, "low": 0, "dirty": 5, "claimed": 0, "free_chunks": [1, 2]}],
    "srat": "U1JBVA==", "slit": "U0xJVAA=", "devices": [{"pci": "0000:3b:00.0", "node": 0}],
    "pools": [{"pool": 0, "cpus": "0,2"}, {"pool": 3, "cpus": None}],
    "domains": [{"domid": 0, "name": "Domain-0", "uuid": "00112233-4455-6677-8899-aabbccddeeff", "type": "pv",
                 "state": "running", "total_pages": 5, "max_pages": 6, "node_pages": [1, 0, 4], "pool": 0,
                 "node_affinity": "0,2", "vcpus": [{"hard": "0-1", "soft": "1", "cpu": 1, "online": True}]},
                {"domid": 1, "vcpus": [None, None], "pool": 3}, {"domid": 2, "vcpus": None}],
}
NO_HOLE = {"format": "numad-xen-host/1", "nodes": [{"size": 1, "free": 1, "distances": [10, -1, 20]},
                                               {"size": 1, "free": 1, "distances": [255, 10, 18446744073709551615]},
                                               {"size": 1, "free": 2, "distances": [20, 4294967295, 10]}]}
HOLE_FIRST = {"format": "numad-xen-host/1", "nodes": [{"size": 4294967295, "free": -1, "distances": [0.5, None, "x", 7]},
                                                  {"size": 1, "free": 1, "distances": [-2.5, 10]}]}
SHORT = {"format": "numad-xen-host/1", "threads_per_core": 2,
         "nodes": [{"size": 1, "free": 1, "cpus": "0-3"}, {"size": 1, "free": 2, "cpus": ""}, {"size": 1, "free": 2}]}
ANY = [GONE, None, True, 7, 1.5, "x", [], {}]
MORE = {  # values to put in place of those of a type
    int: [0, 1, -1, -2, 255, 2**32 - 2, 2**32 - 1, 2**32, 2**56, 2**56 + 1, 2**63, 2**64 - 1],
    str: ["", "0", "0-1", "1-0", "0,", " 0", "0-1\n", "AAAA", "AAA", "AAA=", "AAB=", "AA==", "AB==", "a\0b", "paused",
          "0000:00:1f.7", "0000:00:20.0", "0000:3B:00.0", "00112233-4455-6677-8899-AABBccddeeff"],
    list: [[None], [{}], [0], ["0"]],
}
# What only the program can see: a number or a set that names what is not there, or what is there twice.
BEYOND = ("there is no pool", "is named twice", "names a number above", "has a backward range", "but CPU ", "entries for",
          "elements, more than", "holds CPUs of another pool")


def may_differ(path, why, host):
    if " for unreachable" in why:
        return any(node["size"] == 2**32 - 1 for node in host["nodes"])  # the schema does not know whose column it is
    return any(text in why for text in BEYOND) or (path[-1:] == ("cpu",) and "vcpus" in path and ", above " in why) or \
        ("pages" in str(path) and ", above " in why)  # of the page size


def verdicts(hosts):
    lines = "".join(json.dumps(h) + "\n" for h in hosts)
    out = subprocess.run([str(BUILD / "tests/integration/verdict")], input=lines, capture_output=True, text=True,
                         timeout=300, check=True)
    return out.stdout.splitlines()


def variants():
    for base in (HOST, NO_HOLE, HOLE_FIRST, SHORT):
        yield (), "as it is", base
        for path, value in unlike(base):
            if isinstance(value, dict):
                yield (*path, "colour"), "has a key more", changed(base, (*path, "colour"), 1)
            for other in ANY + MORE.get(type(value), []):
                if path and not (other is GONE and isinstance(path[-1], int)):
                    yield path, "left out" if other is GONE else repr(other), changed(base, path, other)


def test_same_verdict(tap):
    cases = list(variants())
    differing, taken, beyond = [], 0, 0
    for (path, what, host), why in zip(cases, verdicts(host for *_, host in cases)):
        good = not schema.faults(host)
        taken += good
        if good and why != "ok" and may_differ(path, why, host):
            beyond += 1
        elif good != (why == "ok"):
            differing.append(f"{text_of(path)}: {what}: the schema {'takes' if good else 'refuses'} it, numad-xen: {why}")
    tap.ok(not differing, f"schema and program say the same of {len(cases)} host descriptions", "\n".join(differing[:40]))
    tap.ok(taken > 100 and len(cases) - taken > 500 and beyond > 10, "and of both kinds",
           f"{taken} of {len(cases)} are good, {beyond} refused by the program alone")


def main():
    tap = Tap()
    if not schema.AVAILABLE:
        tap.skip("documents are as their schemas say", "the Python module jsonschema is missing")
        tap.done()
    for test in (test_every_document, test_mutants, test_wrong, test_null, test_same_verdict):
        test(tap)
    tap.done()


main()
