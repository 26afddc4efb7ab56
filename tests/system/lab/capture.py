#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real host's capture, read back without the daemon, shows the host again. It is kept in the results as host.json."""
import json
import os
import re
import shutil
import stat
import subprocess

from host import NOBODY, bus, create, destroy_all, fresh_status, hold_against_schemas, run, status
from tap import Tap

tap = Tap()
FOLDER = "/tmp/capture"
NAMES = ("cap-pv", "cap-two")


def lasting(document):
    """A status without what a capture cannot bring back, and without what moves by itself: where a vCPU of dom0 runs."""
    document = {name: value for name, value in document.items() if name not in ("generation", "time", "stats", "reservations")}
    document["host"] = dict(document["host"], backend=None, simulated=None,
                            warnings=[w for w in document["host"]["warnings"] if w["code"] not in ("not-permitted", "source-failed")])
    document["domains"] = [{name: value for name, value in domain.items() if name != "placement"} for domain in document["domains"]]
    document["domains"][0]["state"] = None
    for vcpu in document["domains"][0]["vcpu_affinity"]:
        vcpu["cpu"] = None
    return document


def differences(one, other, path="$"):
    """Where two documents differ."""
    if type(one) is not type(other):
        return [f"{path}: {one!r} / {other!r}"]
    if isinstance(one, dict):
        return [line for name in sorted(one.keys() | other.keys())
                for line in differences(one.get(name), other.get(name), f"{path}.{name}")]
    if isinstance(one, list) and len(one) == len(other):
        return [line for i, (a, b) in enumerate(zip(one, other)) for line in differences(a, b, f"{path}[{i}]")]
    return [] if one == other else [f"{path}: {one!r} / {other!r}"]


def gather():
    """A capture of a moment around which the host did not change; the status before it."""
    for _ in range(10):
        shutil.rmtree(FOLDER, ignore_errors=True)
        before = fresh_status()
        said = run("numad-xen", "gather", FOLDER)
        if lasting(before) == lasting(fresh_status()):
            break
    else:
        tap.ok(False, "the host is at rest")
    tap.equal(said, f"{FOLDER}/host.json\n", "gather says what it has written")
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (FOLDER, f"{FOLDER}/host.json")]
    tap.equal(modes, [0o700, 0o600], "and keeps it to its owner")
    shutil.copy(f"{FOLDER}/host.json", "/lab/results/host.json")
    return before


def same(before):
    file = f"{FOLDER}/host.json"
    wrong = differences(lasting(before), lasting(json.loads(run("numad-xen", "--host", file, "status", "--json"))))
    tap.ok(not wrong, "the capture's status is the daemon's", "\n".join(wrong[:30]))
    one, other = (json.loads(run("numad-xen", *where, "topology", "--json")) for where in ([], ["--host", file]))
    for document in (one, other):
        document["host"] = lasting({"host": document["host"], "domains": [{"vcpu_affinity": []}]})["host"]
        document["host"]["memory"] = None
    wrong = differences(one, other)
    tap.ok(not wrong, "so is its topology", "\n".join(wrong[:30]))
    for command in (["numastat", "--pages"], ["topology", "--hwloc"]):
        texts = [re.sub(r"(?m)^.*(?:Backend|Simulated|since|file).*\n", "", run("numad-xen", *where, *command))
                 for where in ([], ["--host", file])]
        tap.equal(texts[1], texts[0], f"so is what {' '.join(command)} prints")
    with open(file) as text:
        capture = json.load(text)
    tap.ok(capture["format"] == "numad-xen-host/1" and capture["srat"] and capture["slit"], "it holds the firmware's tables")
    tap.equal({d["name"] for d in capture["domains"]}, {"Domain-0", *NAMES}, "and the domains")


def anonymous():
    shutil.rmtree(FOLDER + "2", ignore_errors=True)
    run("numad-xen", "gather", "--anonymize", FOLDER + "2")
    with open(f"{FOLDER}2/host.json") as file:
        text = file.read()
    uuids = [d["uuid"] for d in status()["domains"] if d["uuid"]]
    tap.ok(not any(word in text for word in (*NAMES, *uuids)), "anonymized: no name and no uuid of a domain", text[:500])
    shown = json.loads(run("numad-xen", "--host", f"{FOLDER}2/host.json", "status", "--json"))
    tap.equal(len(shown["domains"]), 3, "anonymized: the domains are there")


def permission():
    folder = "/tmp/not-mine"
    asked = subprocess.run([*NOBODY, "numad-xen", "gather", folder], capture_output=True, text=True)
    tap.equal(asked.returncode, 5, "gather by anyone else: not permitted")
    tap.ok(asked.stderr.startswith("numad-xen: ") and not asked.stdout and not os.path.exists(folder),
           "it says so and leaves nothing behind", asked.stderr)
    tap.note(asked.stderr)
    called = subprocess.run([*NOBODY, "busctl", "call", "org.numadxen.NumadXen1", "/org/numadxen/NumadXen1",
                             "org.numadxen.NumadXen1", "Gather"], capture_output=True, text=True)
    tap.ok(called.returncode != 0, "nor may they call Gather", called.stdout[:200])
    tap.equal(json.loads(bus("Gather")[0])["format"], "numad-xen-host/1", "root may")
    tap.equal(subprocess.run(["numad-xen", "gather", FOLDER], capture_output=True).returncode, 1, "what is there is not overwritten")


def main():
    run("systemctl", "start", "numad-xend")
    create(NAMES[0], 128, node=2, vcpus=2)
    # Intel's virtualisation is not emulated.
    create(NAMES[1], 64, "pvh" if re.search(r"(?m)^virt_caps.*\bhvm\b", run("xl", "info")) else "pv", node=1)
    fresh_status(11)
    same(gather())
    hold_against_schemas(tap, f"{FOLDER}/host.json")
    anonymous()
    permission()
    destroy_all()
    tap.done()


main()
