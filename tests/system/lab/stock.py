#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same programs on a hypervisor without the patches: they run, say what they cannot know, and what to do."""
import json
import re
import subprocess

import acpi
import topology
from host import NOBODY, create, destroy_all, fresh_status, hold_against_schemas, properties, run, xl_info
from tap import Tap

tap = topology.tap = Tap()
MIB = 1 << 20


def ask(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def domains(document, made):
    rows = {d["domid"]: d for d in document["domains"]}
    tap.equal(set(rows), {0, *made}, "all domains are listed")
    for domid, domain in rows.items():
        tap.equal(domain["memory"]["nodes"], None, f"domain {domid}: memory by node is unknown")
        tap.equal(domain["locality"], None, f"domain {domid}: so is its locality")
        tap.ok(domain["memory"]["total"] > 0 and domain["name"] and (domain["uuid"] or not domid), f"domain {domid}: the rest is known",
               domain)
    for domid, node in made.items():
        tap.equal(rows[domid]["node_affinity"], str(node), f"domain {domid}: node affinity")


def host(document):
    warnings = {w["code"]: w["text"] for w in document["host"]["warnings"]}
    tap.equal(set(warnings), {"patch-missing", "dom0-view-differs"}, "warnings are those that are due")
    tap.ok("node-pages" not in document["host"]["features"], "no such feature", document["host"]["features"])
    lows = [row["memory"]["low"] for row in document["nodes"]]
    tap.ok(lows[0] is not None and 400 * MIB < lows[0] <= 512 * MIB, "the DMA reserve of node 0 is known all the same", lows)
    tap.equal(lows[1:], [0, 0, 0], "the other nodes have none")
    ranges = acpi.srat()[1]
    for row in document["nodes"]:
        memory = row["memory"]
        tap.equal(memory["present"], sum(size for domain, _, size in ranges if domain == row["pxm"]),
                  f"node {row['node']}: present memory is the firmware's table's")
        tap.ok(memory["free"] > 0 and memory["dirty"] is None, f"node {row['node']}: free is known, dirty is not", memory)


def clients(domid):
    text = ask("numad-xen", "status")
    tap.equal(text.returncode, 0, "status exits with 0")
    tap.ok("patch" in text.stdout and "small" in text.stdout, "it shows the domain and names the patch", text.stdout)
    tap.note(text.stdout)
    doctor = ask("numad-xen", "doctor")
    tap.equal(doctor.returncode, 1, "doctor exits with 1")
    tap.ok("hypervisor-patches" in doctor.stdout, "and says what to do", doctor.stdout)
    checks = json.loads(ask("numad-xen", "doctor", "--json").stdout)["checks"]
    failed = {check["code"]: check["fix"] for check in checks if not check["ok"]}
    tap.ok(set(failed) == {"node-pages", "node-memory"} and all(failed.values()), "what the patches bring fails, with a fix", failed)
    table = ask("numad-xen", "numastat")
    rows = re.findall(r"(?m)^\d+\s+\S+((?:\s+\S+){4})\s+[\d.]+$", table.stdout)
    tap.ok(table.returncode == 0 and len(rows) == 4 and set("".join(rows).split()) == {"-"}, "numastat knows no node's share",
           table.stdout)
    one = ask("numad-xen", "numastat", "-d", str(domid))
    tap.ok(one.returncode == 1 and not one.stdout and one.stderr.startswith("numad-xen: "),
           "numastat of one domain: exit status 1 and a word on stderr", f"{one.returncode} {one.stdout}{one.stderr}")
    reply = ask("dbus-send", "--system", "--print-reply", "--dest=org.numadxen.NumadXen1", "/org/numadxen/NumadXen1",
                "org.numadxen.NumadXen1.GetDomainMemory", f"uint32:{domid}")
    tap.ok("org.numadxen.NumadXen1.Error.Unsupported" in reply.stderr, "GetDomainMemory answers Unsupported", reply.stderr)
    tap.equal(properties()["Backend"], "xen", "a Xen host")


def unprivileged():
    tap.equal(ask(*NOBODY, "numad-xen", "status").returncode, 0, "anyone may read")
    failed = ask(*NOBODY, "numad-xend")
    tap.equal(failed.returncode, 5, "the daemon without privilege: not permitted")
    tap.ok(re.search(r"root.*dom0|dom0.*root", failed.stderr, re.S), "and says what to do", failed.stderr)


def main():
    run("systemctl", "start", "numad-xend")
    made = {create("small", 64, node=2): 2, create("big", 500, node=1, vcpus=2): 1, create("linux", 128, "pvh", node=3): 3}
    document, shown, info = fresh_status(), json.loads(run("numad-xen", "topology", "--json")), xl_info()
    domains(document, made)
    host(document)
    topology.cpus(shown, info)
    topology.nodes(shown, info)
    topology.memory()
    clients(min(made))
    hold_against_schemas(tap)
    unprivileged()
    errors = run("journalctl", "-b", "-q", "-p", "err", "_COMM=numad-xend", "--no-pager")
    tap.ok(not errors.strip(), "the daemon logged no error", errors)
    destroy_all()
    tap.done()


if __name__ == "__main__":
    main()
