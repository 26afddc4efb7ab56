#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hosts that are not four equal nodes: everything numad-xen shows of them agrees with xl row by row.

usage: shapes.py odd|off|fake   (tests/system/boot tells what they are)"""
import json
import re
import subprocess
import sys

import contract
import topology
from host import create, destroy_all, fresh_status, hold_against_schemas, raw, run, status_pages, walk, xl_info
from tap import Tap

tap = topology.tap = Tap()
MIB = 1 << 20
# What each is known to be, by node: CPUs and kind; and the warnings it must bring, with words they must have.
SHAPES = {
    "odd": {"nodes": {0: ("0-3", "cpu+memory"), 1: ("4-5", "cpu"), 2: ("6-7", "cpu+memory"), 3: ("", "memory")},
            "pxms": {0: 2, 1: 0, 2: 3, 3: 1},
            "warnings": {"dom0-view-differs": ("4 nodes",), "slit-asymmetric": ("1 pair",), "distance-unreachable": ("2 ",)}},
    "off": {"nodes": {0: ("0-7", "cpu+memory")}, "pxms": {0: None},
            "warnings": {"dom0-view-differs": ("1 node ", "8 CPUs"), "srat-mismatch": ("4 nodes", "numa=off")}},
    "fake": {"nodes": {node: (f"{2 * node}-{2 * node + 1}", "cpu+memory") for node in range(4)},
             "pxms": dict.fromkeys(range(4)),
             "warnings": {"dom0-view-differs": ("4 nodes",), "srat-mismatch": ("numa=fake",)}},
}


def host(shape, document, shown, info):
    tap.equal({row["node"]: (row["cpus"], row["kind"]) for row in shown["nodes"]}, shape["nodes"], "the nodes are what was asked for")
    tap.equal({row["node"]: row["pxm"] for row in shown["nodes"]}, shape["pxms"], "their proximity domains")
    topology.cpus(shown, info)
    topology.distances(shown, info)
    topology.devices(shown, info, len(info["nodes"]) > 1)
    texts = {warning["code"]: warning["text"] for warning in document["host"]["warnings"]}
    tap.equal(set(texts), set(shape["warnings"]), "warnings are those that are due")
    for code, words in shape["warnings"].items():
        text = texts.get(code, "")
        tap.ok(all(word in text for word in words), f"{code} says it in words", f"{text!r} without one of {words}")
        tap.note(f"{code}: {text}")
    tap.equal({row["pool"]: row["cpus"] for row in shown["pools"]}, {0: "0-7"}, "one pool of all CPUs")


def memory(document):
    for row in document["nodes"]:
        shown = row["memory"]
        parts = [shown[name] for name in ("free", "low", "dirty", "available")]
        tap.ok(shown["present"] <= shown["span"] and max(parts) <= shown["present"],
               f"node {row['node']}: free, low, dirty, available are part of present, present of span", shown)
        if not shown["span"]:
            tap.ok(not shown["present"] and not any(parts), f"node {row['node']} without memory has none of any kind", shown)


def readable(document):
    """Every reader's text: nothing empty, no sentinel, no NaN, all nodes there."""
    for command in ("status", "topology", "numastat", "doctor"):
        done = subprocess.run(["numad-xen", command], capture_output=True, text=True, timeout=60)
        text = done.stdout
        tap.ok(done.returncode in (0, 1 if command == "doctor" else 0) and not done.stderr, f"{command} answers",
               f"{done.returncode} {done.stderr}")
        tap.ok(all(len(line) <= 80 for line in text.splitlines()), f"{command} keeps to 80 columns", text)
        tap.ok(not re.search(r"(?i)\bnan\b|\binf\b|4294967295|18446744073709551615|\(null\)", text), f"{command}: no sentinel", text)
        if command in ("status", "topology"):
            begins = {int(n) for n in re.findall(r"(?m)^\s*(?:node )?(\d+)\b", text)}
            tap.ok({row["node"] for row in document["nodes"]} <= begins, f"{command}: a line begins with each node's number", text)
        tap.note(text)
    checks = json.loads(run("numad-xen", "doctor", "--json", status=None))["checks"]
    tap.ok(checks and all(check["ok"] or check["fix"] for check in checks), "doctor: what fails has a fix", checks)
    failed = {check["code"] for check in checks if not check["ok"]}
    tap.ok(not failed & {"node-pages", "node-memory"}, "doctor: the hypervisor is well", failed)


def domains(info):
    """Some on a node each, one larger than any; pages as the hypercall and key u say, locality as the contract says."""
    with_cpus = sorted({cpu[3] for cpu in info["cpus"]})
    for node in with_cpus:
        create(f"on{node}", 64, node=node, vcpus=2)
    free = [row["memfree"] for row in xl_info()["nodes"] if row["node"] in with_cpus]
    if len(free) > 1:
        # Where a node has no CPUs, its memory is used last: more than all the others have.
        create("large", (sum(free) if len(with_cpus) < len(info["nodes"]) else max(free)) + 150, vcpus=2)
    for _ in range(10):
        before, counted, document = walk(), raw(), fresh_status(11)
        if before == walk() and counted == raw():
            break
    pages = {domid: row["nodes"] for domid, row in counted.items()}
    tap.equal(status_pages(document), pages, "status: pages of all domains")
    tap.equal({domid: row["nodes"] for domid, row in before.items()}, pages, "and key u walks the same")
    table = run("numad-xen", "numastat", "--pages")
    for domid, nodes in pages.items():
        found = {int(node): int(held) for node, held in re.findall(rf"(?m)^DOM{domid}: NODE(\d+): PAGES: (\d+)", table)}
        tap.equal({node: held for node, held in found.items() if held}, nodes, f"numastat --pages of domain {domid}")
    shown = json.loads(run("numad-xen", "topology", "--json"))
    contract.check(tap, shown, document, {row["node"]: row["memsize"] for row in info["nodes"]}, "domains")
    text = run("numad-xen", "status")
    tap.ok(all(d["name"] in text for d in document["domains"]), "status shows all domains", text)


def main():
    shape = SHAPES[sys.argv[1]]
    run("systemctl", "start", "numad-xend")
    info = xl_info()
    document, shown = topology.memory(), json.loads(run("numad-xen", "topology", "--json"))
    host(shape, document, shown, info)
    memory(document)
    domains(info)
    readable(document)
    hold_against_schemas(tap)
    tap.equal(sum(fresh_status()["stats"]["collection_errors"].values()), 0, "no error is counted")
    destroy_all()
    tap.done()


main()
