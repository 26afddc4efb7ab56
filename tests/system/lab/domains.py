#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What status says about domains against xl and xenstore, how soon it knows of them, and the other readers of it."""
import json
import re
import time

import contract
from host import (MIB_PAGES, bus, cpu_list, create, destroy, destroy_all, fresh_status, raw, run, status, vcpu_list, wait_for,
                  xl_info)
from tap import Tap

tap = Tap()
STATES = {"r": {"running"}, "b": {"blocked"}, "p": {"paused"}, "s": {"shutdown"}, "c": {"crashed"}, "d": {"dying"},
          "-": {"running", "blocked"}}


def by_id(document):
    return {d["domid"]: d for d in document["domains"]}


def against_xl(document, types):
    rows = by_id(document)
    listed = {}
    for line in run("xl", "list").splitlines()[1:]:
        match = re.match(r"(\S+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([-rbpscd]{6})", line)
        listed[int(match[2])] = match
    tap.equal(sorted(rows), sorted(listed), "the domains of xl list")
    uuids = {int(m[2]): m[1] for m in re.finditer(r"(?m)^([0-9a-f-]{36})\s+(\d+)", run("xl", "vm-list"))}
    for domid, match in listed.items():
        domain = rows[domid]
        tap.equal(domain["name"], match[1], f"domain {domid}: name")
        tap.equal(domain["name"], run("xenstore-read", f"/local/domain/{domid}/name").strip(), f"domain {domid}: xenstore's name")
        # dom0's handle is all zeros: it has no uuid.
        tap.equal(domain["uuid"], uuids[domid] if uuids[domid].strip("0-") else None, f"domain {domid}: uuid")
        letter = match[5].replace("-", "")[:1] or "-"
        tap.ok(domain["state"] in STATES[letter] or domid == 0, f"domain {domid}: state {domain['state']} for {match[5]}")
        tap.equal(domain["type"], types[domid], f"domain {domid}: type")
        tap.equal(domain["pool"], 0, f"domain {domid}: pool")
        tap.ok(abs(domain["memory"]["total"] // (1 << 20) - int(match[3])) <= 1, f"domain {domid}: memory",
               f"{domain['memory']['total']} {match[3]}")


def vcpus(document):
    rows = by_id(document)
    for domid, wanted in vcpu_list().items():
        domain = rows[domid]
        tap.equal(domain["vcpus"], len(wanted), f"domain {domid}: vCPUs")
        shown = [(v["vcpu"], v["online"], cpu_list(v["hard"]), cpu_list(v["soft"])) for v in domain["vcpu_affinity"]]
        tap.equal(shown, [(w["vcpu"], w["online"], w["hard"], w["soft"]) for w in wanted], f"domain {domid}: affinities")
        offline = [v["cpu"] for v in domain["vcpu_affinity"] if not v["online"]]
        tap.ok(not any(cpu is not None for cpu in offline), f"domain {domid}: an offline vCPU is on no CPU", offline)


def figures(document):
    topology = json.loads(run("numad-xen", "topology", "--json"))
    contract.check(tap, topology, document, {row["node"]: row["memsize"] for row in xl_info()["nodes"]}, "three domains")


def affinity_nodes(document, placed):
    rows = by_id(document)
    for domid, node in placed.items():
        tap.equal(rows[domid]["node_affinity"], str(node), f"domain {domid}: node affinity")
        tap.ok(rows[domid]["locality"] > 0.99, f"domain {domid}: local to node {node}", rows[domid]["locality"])


def readers(placed):
    """numastat and the bus methods say what the hypercall says."""
    counted = raw()
    listing = bus("ListDomains")[0]
    tap.equal([row[0] for row in listing], sorted(counted), "ListDomains: domids")
    for domid, _, _, held in listing:
        wanted = counted[domid]["total"] - counted[domid]["extra"]
        tap.ok(abs(held // 4096 - wanted) < MIB_PAGES, f"ListDomains: bytes of domain {domid}", f"{held} {wanted}")
    for domid, node in placed.items():
        pages = {n: b // 4096 for n, b in bus("GetDomainMemory", "u", str(domid))[0]}
        tap.equal(pages, counted[domid]["nodes"], f"GetDomainMemory of domain {domid}")
        text = run("numad-xen", "numastat", "-d", str(domid), "--pages")
        found = {int(m[1]): int(m[2]) for m in re.finditer(rf"DOM{domid}: NODE(\d+): PAGES: (\d+)", text)}
        tap.equal({n: p for n, p in found.items() if p}, counted[domid]["nodes"], f"numastat --pages of domain {domid}")
        tap.ok(re.search(r"\d", run("numad-xen", "numastat", "-d", str(domid))), f"numastat of domain {domid}")
    text = run("numad-xen", "status")
    tap.ok(all(len(line) <= 80 for line in text.splitlines()), "status keeps to 80 columns", text)
    for name in ("d-pv", "d-wide", "d-pvh"):
        tap.ok(name in text, f"status shows {name}", text)


def knows(domid, present):
    return lambda: (any(d["domid"] == domid for d in status()["domains"]) == present)


def events():
    """Xenstore's watches tell of domains, not the timer of a second: shown soon, by collections of their own."""
    waits, begin, first = [], time.monotonic(), status()["generation"]
    for turn in range(6):
        domid = create(f"q{turn}", 24, node=turn % 4)
        for present in (True, False):
            since = time.monotonic()
            wait_for(f"domain {domid} {'in' if present else 'out of'} status", knows(domid, present), 5, 0.02)
            waits.append(time.monotonic() - since)
            if present:
                destroy(domid)
    elapsed, collected = time.monotonic() - begin, status()["generation"] - first
    # Two may meet a busy machine.
    text = ", ".join(f"{wait:.2f}" for wait in sorted(waits))
    tap.ok(sorted(waits)[-3] < 1.2, f"domains are shown or forgotten within 1.2 s ({text})")
    tap.ok(collected > elapsed + 6, f"twelve events brought collections of their own ({collected} in {elapsed:.1f} s)")


def main():
    wide = create("d-wide", 300, node=1, vcpus=4)
    placed = {create("d-pv", 200, node=2, vcpus=2): 2, create("d-pvh", 96, "pvh", node=3): 3}
    types = {domid: "pv" for domid in (0, wide, *placed)} | {max(placed): "pvh"}
    run("xl", "vcpu-pin", "d-wide", "0", "0-3", "2")
    document = fresh_status(11)
    against_xl(document, types)
    vcpus(document)
    figures(document)
    affinity_nodes(document, placed)
    readers({wide: 1, **placed})
    destroy_all()
    events()
    destroy_all()
    tap.done()


if __name__ == "__main__":
    main()
