# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is asked of `place` on every golden host, by what the host has: label -> arguments.

field/requests adds to them: HOST LABEL ARGUMENT... a line.
"""
import json
import pathlib
import shlex

MIB, GIB = 1 << 20, 1 << 30
CPUS_MAX = 64  # a set for each vCPU: beyond, documents get long and tell nothing new
ALWAYS = {
    "small": "--vcpus 1 --memory 256M --explain",
    "hvm": "--vcpus 2 --memory 3G --type hvm",
    "strict": "--vcpus 2 --memory 512M --strict",
    "interleave": "--vcpus 4 --memory 1G --policy interleave",
    "pack": "--vcpus 1 --memory 256M --policy pack",
    "any": "--vcpus 1 --memory 256M --policy any",
    "no room": "--vcpus 1 --memory 65536T",
}


def by_memory(status):
    """As large as the largest node, and larger than any. Xen's own share of a PV domain is 1 MiB a vCPU."""
    available = sorted((n["memory"]["available"] for n in status["nodes"]), reverse=True)
    largest = available[0] - MIB
    if largest >= 2 * MIB:
        yield "largest node", f"--vcpus 1 --type pv --memory {largest // (2 * MIB) * 2}M"
        yield "larger than a node", f"--vcpus 1 --type pv --memory {(available[0] + 64 * MIB) // (2 * MIB) * 2}M"


def by_kind(status):
    """A node without CPUs, one without memory."""
    for label, kind in (("memory alone", "memory"), ("CPUs alone", "cpu")):
        nodes = [n for n in status["nodes"] if n["kind"] == kind]
        if nodes and kind == "memory":
            yield label, f"--vcpus 1 --memory 256M --nodes {nodes[0]['node']}"
        elif nodes and nodes[0]["cpus"]:
            yield label, f"--vcpus 1 --memory 256M --cpus {nodes[0]['cpus']}"


def by_cpus(status):
    """More vCPUs than a node has cores, than the host has CPUs."""
    cores = max(n["cores"] for n in status["nodes"])
    if cores < CPUS_MAX:
        yield "wider than a node", f"--vcpus {cores + 1} --memory 1G"
    if status["host"]["online_cpus"] < CPUS_MAX:
        yield "wider than the host", f"--vcpus {status['host']['online_cpus'] + 1} --memory 1G"


def by_what_there_is(status, topology):
    if any("-" in cpu["siblings"] or "," in cpu["siblings"] for cpu in topology["cpus"]):
        yield "threads", "--vcpus 4 --memory 1G --threads 2"
    for pool in topology["pools"]:
        if pool["pool"]:
            yield f"pool {pool['pool']}", f"--vcpus 1 --memory 256M --pool {pool['pool']}"
    device = next((d for d in status["devices"] if d["node"]), None) or next(iter(status["devices"]), None)
    if device:
        yield "near", f"--vcpus 1 --memory 256M --near {device['pci']}"


def own(host):
    path = pathlib.Path(__file__).parent / "field/requests"
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *rest = shlex.split(line, comments=True) or [None]
        if name == host:
            yield rest[0], shlex.join(rest[1:])


def requests(host, status, topology):
    asked = dict(ALWAYS)
    for more in (by_memory(status), by_kind(status), by_cpus(status), by_what_there_is(status, topology), own(host)):
        asked.update(more)
    return asked


def answers(host, path, run):
    """Every answer there is, as one document; `run(arguments)` gives a finished process."""
    status, topology = (json.loads(run([what, "--json", "--host", path]).stdout) for what in ("status", "topology"))
    document = {}
    for label, arguments in requests(host, status, topology).items():
        out = run(["place", "--host", path, "--dry-run", "--format", "json", *shlex.split(arguments)])
        document[label] = f'{{"request": {json.dumps(arguments)}, "exit": {out.returncode}, '
        if out.returncode == 0 and not out.stderr:
            document[label] += f'"placement": {out.stdout.decode()}}}'
        else:
            said = out.stderr.decode(errors="backslashreplace").strip()
            document[label] += f'"printed": {json.dumps(out.stdout.decode())}, "said": {json.dumps(said)}}}'
    return ("{" + ", ".join(f"{json.dumps(label)}: {value.strip()}" for label, value in document.items())
            .replace("\n", "") + "}\n").encode()
