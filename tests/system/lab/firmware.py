#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SRAT and SLIT, read from dom0's firmware tables, agree with Xen's own view of the host, and numad-xen with both."""
import json
import re

import acpi
from host import fresh_status, run, xl_info
from tap import Tap

tap = Tap()


def pxms(info):
    """{node: proximity domain} from Xen's boot messages, and for nodes without memory from their CPUs."""
    with open("/lab/console.log", errors="replace") as file:
        found = {int(row[1]): int(row[2]) for row in re.finditer(r"\(XEN\) SRAT: Node (\d+) PXM (\d+) \[", file.read())}
    domains, cpu_of = acpi.srat()[0], acpi.cpu_of_apic()
    of_cpu = {cpu_of[apic]: domain for apic, domain in domains.items() if apic in cpu_of}
    for cpu, _, _, node in info["cpus"]:
        tap.equal(found.setdefault(node, of_cpu[cpu]), of_cpu[cpu], f"CPU {cpu} of node {node}: SRAT's domain")
    return found


def against_xen(info, pxm_of):
    """The tables themselves: this is what an operator would check by hand."""
    table = acpi.slit()
    for row in info["nodes"]:
        tap.equal([table[pxm_of[row["node"]]][pxm_of[other["node"]]] for other in info["nodes"]], row["distances"],
                  f"SLIT's distances of node {row['node']} are xl's")
        size = sum(size for domain, _, size in acpi.srat()[1] if domain == pxm_of[row["node"]])
        tap.ok(size <= row["memsize"] << 20, f"SRAT's memory of node {row['node']} is within what xl says it spans",
               f"{size >> 20} MiB, {row['memsize']} MiB")


def shown(info, pxm_of):
    document = fresh_status()
    ranges = acpi.srat()[1]
    tap.equal({row["node"]: row["pxm"] for row in document["nodes"]}, pxm_of, "status: proximity domains")
    for row, wanted in zip(document["nodes"], info["nodes"]):
        tap.equal(row["distances"], wanted["distances"], f"status: distances of node {row['node']}")
        memory, size = row["memory"], sum(size for domain, _, size in ranges if domain == row["pxm"])
        tap.ok(memory["present"] <= memory["span"] and 0.95 * size <= memory["present"] <= size,
               f"status: present memory of node {row['node']} is the firmware's, within the span", f"{memory}, SRAT {size}")
    codes = {warning["code"] for warning in document["host"]["warnings"]}
    wrong = codes & {"srat-invalid", "srat-mismatch", "slit-invalid", "slit-mismatch"}
    tap.ok(not wrong, "status: no warning about the tables", wrong)
    tap.equal(document["stats"]["collection_errors"]["srat"], 0, "status: no error reading them")
    topology = json.loads(run("numad-xen", "topology", "--json"))
    tap.equal({row["node"]: row["pxm"] for row in topology["nodes"]}, pxm_of, "topology: proximity domains")


def main():
    run("systemctl", "start", "numad-xend")
    info = xl_info()
    pxm_of = pxms(info)
    tap.equal(sorted(pxm_of), [row["node"] for row in info["nodes"]], "every node has a proximity domain")
    against_xen(info, pxm_of)
    shown(info, pxm_of)
    tap.done()


main()
