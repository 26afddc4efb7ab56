#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""hwloc's own tools read the exported host as xl tells it: nodes, CPUs, cores, memory, distances, devices."""
import re
import subprocess
import xml.etree.ElementTree as ElementTree

from host import BUS_NAME, bus, fresh_status, run, status, xl_info
from tap import Tap

tap = Tap()
FILE = "/tmp/host.xml"
MIB = 1 << 20


def bits(mask):
    """The set of an hwloc mask: 0xf, or words 0x1,0x00000000."""
    value = 0
    for word in mask.split(","):
        value = value << 32 | int(word or "0", 16)
    return {bit for bit in range(value.bit_length()) if value >> bit & 1}


def numbers(text):
    return {int(n) for n in re.findall(r"\d+", text)}


def calc(*args):
    return run("hwloc-calc", "-i", FILE, *args).strip()


def export():
    """The document, by the client and by the bus, and hwloc's own export of what it has read."""
    text = run("numad-xen", "topology", "--hwloc")
    with open(FILE, "w") as file:
        file.write(text)
    tap.equal(bus("GetTopologyXML")[0].strip(), text.strip(), f"{BUS_NAME}.GetTopologyXML is what topology --hwloc prints")
    piped = subprocess.run("numad-xen topology --hwloc | lstopo-no-graphics -i - --if xml", shell=True, capture_output=True, text=True)
    tap.ok(piped.returncode == 0 and not piped.stderr and "NUMANode" in piped.stdout, "lstopo reads it from a pipe", piped.stderr)
    tap.note(piped.stdout)
    return ElementTree.fromstring(run("lstopo-no-graphics", "-i", FILE, "--whole-io", "--of", "xml", "-"))


def nodes(tree, info, document):
    shown = {int(o.get("os_index")): o for o in tree.iter("object") if o.get("type") == "NUMANode"}
    tap.equal(sorted(shown), [row["node"] for row in info["nodes"]], "NUMA nodes have Xen's numbers")
    memory = {row["node"]: row["memory"] for row in document["nodes"]}
    for node, row in shown.items():
        wanted = {cpu for cpu, _, _, on in info["cpus"] if on == node}
        if wanted:
            tap.equal(bits(row.get("cpuset")), wanted, f"CPUs of node {node}")
            tap.equal(numbers(calc("-p", "-I", "pu", f"numanode:{node}")), wanted, f"hwloc-calc: CPUs of node {node}")
        local = int(row.get("local_memory", "0"))
        tap.equal(local, memory[node]["present"], f"memory of node {node}")
    tap.equal(calc("-N", "numanode", "all"), str(len(info["nodes"])), "hwloc-calc counts the nodes")


def cores(tree, info):
    pus = {int(o.get("os_index")) for o in tree.iter("object") if o.get("type") == "PU"}
    tap.equal(pus, {row[0] for row in info["cpus"]}, "PUs have Xen's CPU numbers")
    wanted, seen = {}, []
    for cpu, core, socket, node in info["cpus"]:
        wanted.setdefault((node, socket, core), set()).add(cpu)
    for row in tree.iter("object"):
        if row.get("type") == "Core":
            seen.append(bits(row.get("cpuset")))
    tap.equal(sorted(map(sorted, seen)), sorted(map(sorted, wanted.values())), "cores hold the CPUs that xl says share one")
    summary = run("hwloc-info", "-i", FILE)
    for kind, count in (("NUMANode", len(info["nodes"])), ("PU", len(pus)), ("Core", len(wanted))):
        tap.ok(re.search(rf"(?m):\s+{count} {kind} ", summary), f"hwloc-info counts {count} {kind}", summary)


def distances(tree, info):
    matrix = tree.find("distances2")
    wanted = [row["distances"] for row in info["nodes"]]
    if any(distance is None for row in wanted for distance in row):
        tap.ok(matrix is None or "NUMALatency" != matrix.get("name") or matrix.get("nbobjs") != str(len(wanted)),
               "no matrix where a distance is unknown: hwloc has no word for that")
        return
    values = [int(n) for row in matrix.findall("u64values") for n in row.text.split()]
    tap.equal(values, [distance for row in wanted for distance in row], "distances are xl's")
    printed = run("lstopo-no-graphics", "-i", FILE, "--distances")
    tap.equal([[int(n) for n in line.split()[1:]] for line in printed.splitlines()[2:2 + len(wanted)]], wanted,
              "lstopo --distances prints them")


def distribution(info):
    """hwloc-distrib spreads four workers over the host."""
    sets = [bits(line) for line in run("hwloc-distrib", "-i", FILE, "4").split()]
    tap.equal(set.union(*sets), {row[0] for row in info["cpus"]}, "hwloc-distrib uses every CPU")
    by_node = [{cpu for cpu, _, _, node in info["cpus"] if node == row["node"]} for row in info["nodes"]]
    if all(by_node):
        tap.equal(sets, by_node, "hwloc-distrib gives each worker a node")


def devices(tree, info):
    shown = {o.get("pci_busid") for o in tree.iter("object") if o.get("type") == "PCIDev"}
    tap.equal(shown, {row["pci"] for row in status()["devices"]}, "PCI devices are those of the status")
    for pci, node in info["devices"].items():
        if any(row[3] == node for row in info["cpus"]):
            tap.equal(calc("-p", "-I", "numanode", f"pci={pci}"), str(node), f"hwloc-calc: node of {pci}")


def main():
    run("systemctl", "start", "numad-xend")
    document, info, tree = fresh_status(), xl_info(), export()
    nodes(tree, info, document)
    cores(tree, info)
    distances(tree, info)
    distribution(info)
    devices(tree, info)
    tap.done()


main()
