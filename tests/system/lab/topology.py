#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The host as numad-xen shows it equals what `xl info -n` and dom0 say, row by row."""
import glob
import json
import os
import re

from host import MIB_PAGES, cpu_list, fresh_status, heap_nodes, key, run, xl_info
from tap import Tap

tap = Tap()
MIB = 1 << 20


def cpus(topology, info):
    shown = [[row["cpu"], row["core"], row["socket"], row["node"]] for row in topology["cpus"]]
    tap.equal(shown, info["cpus"], f"CPU rows: core, socket, node of {len(info['cpus'])} CPUs")
    tap.ok(all(row["online"] for row in topology["cpus"]), "all CPUs are online")
    for row in topology["nodes"]:
        wanted = {cpu for cpu, _, _, node in info["cpus"] if node == row["node"]}
        tap.equal(cpu_list(row["cpus"]), wanted, f"CPUs of node {row['node']}")
        cores = {(core, socket) for _, core, socket, node in info["cpus"] if node == row["node"]}
        tap.equal(row["cores"], len(cores), f"cores of node {row['node']}")


def distances(topology, info):
    tap.equal([row["node"] for row in topology["nodes"]], [row["node"] for row in info["nodes"]], "node numbers")
    for row, wanted in zip(topology["nodes"], info["nodes"]):
        tap.equal(row["distances"], wanted["distances"], f"distances of node {row['node']}")


def nodes(topology, info):
    distances(topology, info)
    for row in topology["nodes"]:
        tap.equal(row["kind"], "cpu+memory", f"kind of node {row['node']}")
        tap.equal(row["pxm"], row["node"], f"proximity domain of node {row['node']} is QEMU's number")


def devices(topology, info, placed=True):
    """xl leaves out devices of no known node; dom0's own list has them all."""
    shown = {row["pci"]: row["node"] for row in topology["devices"]}
    tap.equal({pci: node for pci, node in shown.items() if node is not None}, info["devices"], "nodes of PCI devices")
    tap.equal(bool(info["devices"]), placed, f"there are {'' if placed else 'no '}devices on nodes")
    tap.equal(sorted(shown), sorted(os.listdir("/sys/bus/pci/devices")), "all PCI devices are listed")


def memory():
    """span and free against xl: free moves, so a moment is taken where xl says the same twice."""
    for _ in range(10):
        before, document, after = xl_info(), fresh_status(), xl_info()
        if before == after:
            break
    for row, wanted in zip(document["nodes"], before["nodes"]):
        got = (row["memory"]["span"] // MIB, row["memory"]["free"] // MIB)
        tap.equal(got, (wanted["memsize"], wanted["memfree"]), f"MiB spanned and free of node {row['node']}")
    host = document["host"]
    tap.equal(host["memory"]["total"] // MIB, before["total_memory"], "MiB of the host")
    tap.equal(host["memory"]["free"] // MIB, before["free_memory"], "MiB free of the host")
    tap.equal(host["max_cpu_id"], before["max_cpu_id"], "highest CPU id")
    tap.equal(host["online_cpus"], before["nr_cpus"], "online CPUs")
    tap.equal(host["xen_version"], before["xen_version"], "Xen's version")
    tap.equal(host["page_size"], 4096, "page size")
    tap.equal((host["backend"], host["simulated"]), ("xen", False), "a real host")
    return document


def heap(document):
    """present, free, low and dirty against the hypercall itself, and key u's free pages."""
    raw, pages = heap_nodes(), {}
    for line in key("u"):
        if match := re.match(r"\(XEN\) NODE(\d+) start->\d+ size->(\d+) free->(\d+)", line):
            pages[int(match[1])] = (int(match[2]), int(match[3]))
    for row in document["nodes"]:
        number, shown = row["node"], row["memory"]
        near = [abs(shown[name] - raw[number][name] * 4096) <= 16 * MIB for name in ("free", "low", "dirty")]
        tap.ok(all(near), f"free, low, dirty of node {number} are the hypercall's", f"{shown} {raw[number]}")
        tap.equal(shown["present"], raw[number]["present"] * 4096, f"present memory of node {number}")
        tap.equal(shown["span"], pages[number][0] * 4096, f"span of node {number} is key u's size")
        tap.ok(0.95 * 2048 * MIB <= shown["present"] <= 2048 * MIB, f"node {number} has its 2 GiB, less the firmware's",
               shown["present"])
        tap.ok(0 < shown["free"] <= shown["present"] and shown["low"] <= shown["free"] and shown["dirty"] <= shown["free"],
               f"node {number}: low and dirty are part of free, free of present", shown)
        # what is free in chunks below 2 MiB is not to be had, and this hypervisor does not say how much that is
        domains = sum(any(part["node"] == number for part in domain["memory"]["nodes"]) for domain in document["domains"])
        fragments = (16 + 2 * domains) * MIB if row["free_chunks"] is None else 0
        wanted = max(0, shown["free"] - shown["low"] - (shown["claimed"] or 0) - shown["reserved"] - fragments)
        tap.equal(shown["available"], wanted, f"available memory of node {number}")
    lows = [row["memory"]["low"] for row in document["nodes"]]
    tap.ok(400 * MIB < lows[0] <= 512 * MIB and not any(lows[1:]), "the DMA reserve is node 0's, about 448 MiB", lows)
    tap.ok(document["nodes"][1]["memory"]["span"] > 2560 * MIB, "node 1 spans the PCI hole")
    tap.ok({"node-pages", "node-memory"} <= set(document["host"]["features"]), "features", document["host"]["features"])
    tap.ok(sum(p for _, p in pages.values()) > 100 * MIB_PAGES, "key u prints free pages")


def dom0(topology, document):
    seen = {"nodes": len(glob.glob("/sys/devices/system/node/node[0-9]*")), "cpus": os.cpu_count()}
    tap.equal(topology["dom0"], seen, "what dom0 itself sees")
    texts = {warning["code"]: warning["text"] for warning in document["host"]["warnings"]}
    tap.equal(set(texts), {"dom0-view-differs"}, "that dom0 sees another host is the only warning")
    words = (f"{seen['nodes']} node and {seen['cpus']} CPUs", "4 nodes and 8 CPUs", "numad-xen topology")
    text = texts.get("dom0-view-differs", "")
    tap.ok(all(word in text for word in words), "it has both counts and says what to do", f"{text!r} without one of {words}")


def main():
    topology, info = json.loads(run("numad-xen", "topology", "--json")), xl_info()
    tap.equal(topology["format"], "numad-xen-topology/1", "format")
    cpus(topology, info)
    nodes(topology, info)
    devices(topology, info)
    tap.equal([row["pool"] for row in topology["pools"]], [0], "one pool")
    tap.equal(cpu_list(topology["pools"][0]["cpus"]), {row[0] for row in info["cpus"]}, "its CPUs")
    document = memory()
    heap(document)
    dom0(topology, document)
    text = run("numad-xen", "topology")
    tap.ok(all(re.search(rf"\b{d}\b", text) for d in (10, 16, 22)), "the text shows the distances", text)
    tap.done()


if __name__ == "__main__":
    main()
