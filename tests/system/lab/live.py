#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CPUs go offline and online, pools are made and unmade, domains move between them: the generation after each change
shows it as xl does, TopologyChanged tells of it, nothing is counted as an error.

usage: live.py [STEP...]"""
import json
import subprocess
import sys
import tempfile
import time

import contract
from host import (BUS_NAME, cpu_list, create, destroy_all, fresh_status, pool_list, properties, run, start_linux, status,
                  vcpu_list, wait_for, xl_info, xl_pool_of)
from tap import Tap

tap = Tap()
ALL = set(range(8))


class Changes:
    """The TopologyChanged signals, as another program on the bus hears them."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile("r", suffix=".json")
        self.lines = []
        with open(self.file.name, "w") as out:
            self.process = subprocess.Popen(["busctl", "--json=short", "--match", f"type='signal',interface='{BUS_NAME}'",
                                             "monitor"], stdout=out, stderr=subprocess.PIPE, text=True)
        while "Monitoring" not in self.process.stderr.readline():
            assert self.process.poll() is None, "busctl monitor runs"

    def heard(self):
        """The generations told so far."""
        self.lines += self.file.readlines()
        messages = [json.loads(line) for line in self.lines if line.strip()]
        return [m["payload"]["data"][0] for m in messages if m.get("member") == "TopologyChanged"]

    def close(self):
        self.process.terminate()
        self.process.wait(30)


def topology():
    return json.loads(run("numad-xen", "topology", "--json"))


def cpus(step, shown, info, offline):
    online = ALL - offline
    tap.equal([row["cpu"] for row in shown["cpus"]], sorted(ALL), f"{step}: every CPU has its row")
    tap.equal({row["cpu"] for row in shown["cpus"] if row["online"]}, online, f"{step}: online CPUs")
    wanted = {row[0]: row[1:] for row in info["cpus"]}
    tap.equal({row["cpu"]: [row["core"], row["socket"], row["node"]] for row in shown["cpus"]},
              {cpu: wanted[cpu] if cpu in online else [None, None, None] for cpu in ALL}, f"{step}: their core, socket, node")
    cores = {}
    for cpu in online:
        cores.setdefault(tuple(wanted[cpu]), set()).add(cpu)
    tap.equal({row["cpu"]: cpu_list(row["siblings"]) for row in shown["cpus"]},
              {cpu: cores[tuple(wanted[cpu])] if cpu in online else set() for cpu in ALL}, f"{step}: their siblings")
    for row in shown["nodes"]:
        here = {cpu for cpu in online if wanted[cpu][2] == row["node"]}
        size = next(node["memsize"] for node in info["nodes"] if node["node"] == row["node"])
        kind = ("cpu+memory" if size else "cpu") if here else "memory" if size else "empty"
        tap.equal((cpu_list(row["cpus"]), row["cores"], row["kind"]),
                  (here, len({tuple(wanted[cpu]) for cpu in here}), kind), f"{step}: CPUs, cores, kind of node {row['node']}")


def domains(step, shown, document, info):
    pools, affinities = xl_pool_of(), vcpu_list()
    for domain in document["domains"]:
        domid = domain["domid"]
        tap.equal(domain["pool"], pools[domid], f"{step}: pool of domain {domid}")
        tap.equal([(v["vcpu"], v["online"], cpu_list(v["hard"]), cpu_list(v["soft"])) for v in domain["vcpu_affinity"]],
                  [(v["vcpu"], v["online"], v["hard"], v["soft"]) for v in affinities[domid]],
                  f"{step}: affinities of domain {domid}")
    contract.check(tap, shown, document, {row["node"]: row["memsize"] for row in info["nodes"]}, step)


def check(step, document, offline):
    shown, info, pools = topology(), xl_info(), pool_list()
    cpus(step, shown, info, offline)
    tap.equal({row["pool"]: cpu_list(row["cpus"]) for row in shown["pools"]}, pools, f"{step}: pools and their CPUs")
    host = document["host"]
    tap.equal((host["online_cpus"], host["max_cpu_id"]), (info["nr_cpus"], info["max_cpu_id"]), f"{step}: counts of CPUs")
    domains(step, shown, document, info)


def warnings(document):
    return {warning["code"] for warning in document["host"]["warnings"]}


class Watcher:
    def __init__(self, offline=frozenset()):
        self.changes = Changes()
        self.due = warnings(status())
        self.offline = set(offline)

    def change(self, step, *commands, offline=None, told=True):
        """Runs the commands and holds what the next generation shows against xl."""
        before, heard = status(), len(self.changes.heard())
        for command in commands:
            run(*command.split())
        self.offline = self.offline if offline is None else offline
        document = fresh_status()
        if told:
            wait_for(f"TopologyChanged after: {step}", lambda: len(self.changes.heard()) > heard, 10)
        new = self.changes.heard()[heard:]
        tap.ok(bool(new) == told and all(before["generation"] < g <= document["generation"] + 1 for g in new),
               f"{step}: TopologyChanged is {'' if told else 'not '}sent", f"{new} of {before['generation']}..{document['generation']}")
        check(step, document, self.offline)
        tap.ok(properties()["Generation"] >= document["generation"] > before["generation"], f"{step}: the generation goes up")
        tap.equal(document["stats"]["collection_errors"], before["stats"]["collection_errors"], f"{step}: no error is counted")
        tap.equal(warnings(document), self.due, f"{step}: no new warning")


def step_cpus(watcher):
    """A CPU in the middle, one at the end, all of a node; a domain that may run only on these."""
    create("pinned", 64, node=3, vcpus=2, extra=['cpus=["6","7"]'])
    create("soft", 64, node=3)
    watcher.change("CPU 2 offline", "xen-hptool cpu-offline 2", offline={2})
    watcher.change("CPU 7 offline too", "xen-hptool cpu-offline 7", offline={2, 7})
    watcher.change("node 3 has no CPU left", "xen-hptool cpu-offline 6", offline={2, 6, 7})
    watcher.change("all online again", *(f"xen-hptool cpu-online {cpu}" for cpu in (6, 2, 7)), offline=set())
    run("xl", "destroy", "pinned")
    run("xl", "destroy", "soft")


def step_threads(watcher):
    """As with smt=0: every second thread parked. Xen goes on showing their cores and nodes, and xl with it."""
    watcher.change("threads disabled", "xen-hptool smt-disable", offline={1, 3, 5, 7})
    watcher.change("threads enabled", "xen-hptool smt-enable", offline=set())


def step_split(watcher):
    """A pool a node, domains moved through them, running and paused; and back to one pool."""
    create("paused", 64, node=2, vcpus=2)
    start_linux("running", 96, "pv", 1)
    watcher.change("a pool a node", "xl cpupool-numa-split")
    tap.equal(len(pool_list()), 4, "there are four pools")
    watcher.change("a paused domain moves", "xl cpupool-migrate paused Pool-node3", told=False)
    watcher.change("a running domain moves", "xl cpupool-migrate running Pool-node1", told=False)
    watcher.change("both go back", "xl cpupool-migrate running Pool-node0", "xl cpupool-migrate paused Pool-node0", told=False)
    watcher.change("three pools destroyed, their CPUs free", *(f"xl cpupool-destroy Pool-node{n}" for n in (1, 2, 3)))
    watcher.change("one pool of all", *(f"xl cpupool-cpu-add Pool-node0 node:{n}" for n in (1, 2, 3)),
                   "xl cpupool-rename Pool-node0 Pool-0")
    run("xl", "destroy", "paused")
    run("xl", "destroy", "running")


def step_pools(watcher):
    """A pool of CPUs of two nodes, one CPU in no pool, and a CPU offline out of a pool."""
    with open("/tmp/two.cfg", "w") as file:
        file.write('name="two"\nsched="credit2"\ncpus=["3","4"]\n')
    create("wide", 64, node=1, vcpus=2)
    watcher.change("CPUs 3 and 4 in no pool", "xl cpupool-cpu-remove Pool-0 3", "xl cpupool-cpu-remove Pool-0 4")
    watcher.change("a pool of them", "xl cpupool-create /tmp/two.cfg")
    watcher.change("a domain moves there", "xl cpupool-migrate wide two", told=False)
    run("xl", "vcpu-pin", "wide", "0", "3", "3")
    fresh_status(11)
    watcher.change("it is pinned there", told=False)
    watcher.change("CPU 4 in no pool, and offline", "xl cpupool-cpu-remove two 4", "xen-hptool cpu-offline 4", offline={4})
    watcher.change("CPU 4 online", "xen-hptool cpu-online 4", offline=set())
    watcher.change("as before", "xl cpupool-migrate wide Pool-0", "xl cpupool-destroy two", "xl cpupool-cpu-add Pool-0 3",
                   *(["xl cpupool-cpu-add Pool-0 4"] if 4 not in pool_list()[0] else []))
    run("xl", "destroy", "wide")


def step_quiet(watcher):
    """Nothing but domains: no TopologyChanged."""
    create("idle", 32)
    watcher.change("a domain is created", told=False)
    destroy_all()
    watcher.change("it is destroyed", told=False)
    first = watcher.changes.heard()
    time.sleep(3)
    tap.equal(watcher.changes.heard(), first, "a host at rest is quiet")


STEPS = {name[5:]: function for name, function in list(globals().items()) if name.startswith("step_")}


def main():
    names = sys.argv[1:] or ["cpus", "split", "pools", "quiet"]
    assert set(names) <= set(STEPS), f"no such step: {set(names) - set(STEPS)}"
    began = int(time.time())  # what other suites made it say is not ours
    run("systemctl", "start", "numad-xend")
    watcher = Watcher()
    for name in names:
        begin = time.monotonic()
        try:
            STEPS[name](watcher)
        except Exception as failure:
            tap.ok(False, f"step {name} runs to its end", repr(failure))
        destroy_all()
        tap.note(f"step {name}: {time.monotonic() - begin:.0f} s")
    watcher.changes.close()
    errors = run("journalctl", "-q", "-p", "err", f"--since=@{began}", "_COMM=numad-xend", "--no-pager")
    tap.ok(not errors.strip(), "the daemon logged no error", errors)
    tap.done()


main()
