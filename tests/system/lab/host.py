# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the lab's tests need of a Xen host, seen from dom0: xl, debug key u, heapcall, numad-xen."""
import json
import os
import re
import subprocess
import tempfile
import time

GRUB = {"pv": "/usr/lib/lab/grub-x86_64-xen.bin", "pvh": "/usr/lib/lab/grub-i386-xen_pvh.bin"}
LINUX = "/usr/lib/lab/vmlinuz"
GUEST_INITRD = "/usr/lib/lab/guest-initrd"
TOOLS = "/lab/tools/"
MIB_PAGES = 256
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
BUS_NAME = "org.numadxen.NumadXen1"
BUS_PATH = "/org/numadxen/NumadXen1"


class Failed(Exception):
    pass


def run(*args, timeout=120, status=0, env=None):
    """stdout of a command that must exit with status (None: any)."""
    done = subprocess.run(args, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **env) if env else None)
    if status is not None and done.returncode != status:
        raise Failed(f"{' '.join(args)}: exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-1500:]}")
    return done.stdout


def wait_for(what, predicate, seconds=60, step=0.3):
    """The predicate's first true value; raises after the time."""
    end = time.monotonic() + seconds
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(step)


# -- domains -----------------------------------------------------------------

def create(name, memory, kind="pv", paused=True, node=None, maxmem=None, vcpus=1, linux=False, extra=()):
    """Starts a domain by xl and returns its domid. Its kernel is grub's small image unless linux is asked for."""
    lines = [f'name="{name}"', f'type="{kind}"', f"memory={memory}", f"vcpus={vcpus}", 'on_crash="preserve"', 'on_reboot="destroy"',
             f'kernel="{LINUX if linux else GRUB[kind]}"']
    if linux:
        lines += [f'ramdisk="{GUEST_INITRD}"', 'extra="console=hvc0 quiet"']
    if maxmem:
        lines.append(f"maxmem={maxmem}")
    if node is not None:
        lines.append(f'cpus_soft="nodes:{node}"')
    lines += extra
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        run("xl", "create", "-q", *(["-p"] if paused else []), file.name)
    return int(run("xl", "domid", name))


def came_up(name, domid):
    """Waits until a Linux guest says in xenstore that it is up. False when the emulated processor failed it: now
    and then, on a busy machine, a PVH guest gets a triple fault on its way up."""
    def outcome():
        if f"d{domid}v0 Triple fault" in run("xl", "dmesg"):
            return "fault"
        return run("xenstore-read", f"/local/domain/{domid}/data/up", status=None).strip()
    if wait_for(f"{name} is up", outcome, 180) == "1":
        return True
    wait_for(f"{name} is gone", lambda: domid not in live(), 60)
    return False


def start_linux(name, memory, kind, node):
    """The domid of a running Linux guest."""
    for _ in range(4):
        domid = create(name, memory, kind, linux=True, paused=False, node=node)
        if came_up(name, domid):
            return domid
    raise Failed(f"{name} does not come up")


def destroy(*names):
    for name in names:
        run("xl", "destroy", str(name))


def live():
    """Domids as xl lists them."""
    rows = run("xl", "list").splitlines()[1:]
    return {int(re.match(r"(?:.*\S|\(null\))?\s+(\d+)\s+\d+\s+\d+\s+[-rbpscd]{6}", row)[1]) for row in rows}


def destroy_all():
    for domid in sorted(live() - {0}):
        run("xl", "destroy", str(domid), status=None)
    wait_for("all domains gone", lambda: set(walk()) == {0}, 60)


class DomTool:
    """tests/system/lab/domtool.c at the other end of a pipe."""

    def __init__(self):
        self.process = subprocess.Popen([TOOLS + "domtool"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, command, *args):
        self.process.stdin.write(" ".join([command, *map(str, args)]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split(None, 1)
        if not answer or answer[0] != "ok":
            raise Failed(f"domtool {command} {args}: {answer}")
        return int(answer[1])

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


# -- three ways to ask where memory is ---------------------------------------

def key(letter):
    """What a debug key prints, line by line."""
    run("xl", "dmesg", "-c")
    run("xl", "debug-keys", letter)
    return run("xl", "dmesg").splitlines()


def walk():
    """Debug key u: {domid: {"total": pages, "nodes": {node: pages, ...}}}, nodes without pages left out."""
    domains = {}
    current = None
    for line in key("u"):
        if match := re.match(r"\(XEN\) Domain (\d+) \(total: (\d+)\)", line):
            current = domains.setdefault(int(match[1]), {"total": int(match[2]), "nodes": {}})
        elif current and (match := re.match(r"\(XEN\)\s+Node (\d+): (\d+)$", line)):
            if int(match[2]):
                current["nodes"][int(match[1])] = int(match[2])
    if 0 not in domains:
        raise Failed("debug key u printed no domain 0")
    return domains


def status(*options):
    return json.loads(run("numad-xen", *options, "status", "--json"))


def fresh_status(generations=2):
    """A status whose snapshot was begun after this call: two generations on. Affinities and names take eleven."""
    first = status()["generation"]
    return wait_for("new snapshots", lambda: (s := status())["generation"] >= first + generations and s, 20 + 2 * generations)


def hold_against_schemas(tap, *more):
    """Every document of this moment, and those in the files named."""
    import schema  # jsonschema is slow to come up here
    tap.ok(schema.AVAILABLE, "python3-jsonschema is there")
    texts = {" ".join(command): run("numad-xen", *command, "--json", status=None) for command in (["status"], ["topology"], ["doctor"])}
    for path in more:
        with open(path) as file:
            texts[path] = file.read()
    for what, text in texts.items():
        wrong = schema.faults(json.loads(text))
        tap.ok(not wrong, f"{what}: as its schema says", "\n".join(wrong))


def status_pages(document):
    """{domid: {node: pages}} of a status document; None where it is not known."""
    size = document["host"]["page_size"]
    return {d["domid"]: None if d["memory"]["nodes"] is None else
            {n["node"]: n["bytes"] // size for n in d["memory"]["nodes"]} for d in document["domains"]}


# -- xl's tables -------------------------------------------------------------

def cpu_list(text):
    """The set that `0-3,8` or `all` (of the lab's eight CPUs) names."""
    if text == "all":
        return set(range(8))
    out = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        out.update(range(int(low), int(high or low) + 1))
    return out


def xl_info():
    text = run("xl", "info", "-n")
    info = {name: int(re.search(rf"(?m)^{name}\s*: (\d+)", text)[1])
            for name in ("nr_cpus", "max_cpu_id", "total_memory", "free_memory")}
    info["xen_version"] = re.search(r"(?m)^xen_version\s*: (\S+)", text)[1]
    cpus, rest = text.split("cpu_topology")[1].split("device topology", 1)
    devices, nodes = rest.split("numa_info")
    info["cpus"] = [[int(n) for n in row.groups()] for row in
                    re.finditer(r"(?m)^\s*(\d+):\s+(\d+)\s+(\d+)\s+(\d+)$", cpus)]
    info["devices"] = {row[1]: int(row[2]) for row in re.finditer(r"(?m)^([0-9a-f:.]+)\s+(\d+)$", devices)}
    info["nodes"] = [{"node": int(row[1]), "memsize": int(row[2]), "memfree": int(row[3]),
                      "distances": [int(d) if d != "-1" else None for d in row[4].split(",")]} for row in
                     re.finditer(r"(?m)^\s*(\d+):\s+(\d+)\s+(\d+)\s+([-\d,]+)$", nodes)]
    return info


def pool_names():
    """{name: pool id}; xl prints names, xenstore knows their ids."""
    ids = map(int, run("xenstore-list", "/local/pool").split())
    return {run("xenstore-read", f"/local/pool/{pool}/name").strip(): pool for pool in ids}


def pool_list():
    """{pool id: CPUs} from xl cpupool-list."""
    names = pool_names()
    return {names[line.split()[0]]: cpu_list("".join(line.split()[1:]))
            for line in run("xl", "cpupool-list", "-c").splitlines()[1:]}


def xl_pool_of():
    """{domid: pool id} from xl list."""
    names = pool_names()
    return {int(row[1]): names[row[2]] for row in
            re.finditer(r"(?m)^\S+\s+(\d+)\s+\d+\s+\d+\s+[-rbpscd]{6}\s+[\d.]+\s+(\S+)$", run("xl", "list", "-c"))}


def vcpu_list():
    """{domid: [{vcpu, online, hard, soft}]} from xl vcpu-list."""
    out = {}
    for row in re.finditer(r"(?m)^\S+\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+\S+\s+(\S+) / (\S+)\s*$", run("xl", "vcpu-list")):
        out.setdefault(int(row[1]), []).append({"vcpu": int(row[2]), "online": not row[4].endswith("p") or row[3] != "-",
                                                "hard": cpu_list(row[5]), "soft": cpu_list(row[6])})
    return out


def bus(method, *args):
    """What a method of the daemon's answers over the system bus."""
    return json.loads(run("busctl", "--json=short", "call", BUS_NAME, BUS_PATH, BUS_NAME, method, *args))["data"]


def properties():
    answer = json.loads(run("busctl", "--json=short", "call", BUS_NAME, BUS_PATH, "org.freedesktop.DBus.Properties",
                            "GetAll", "s", BUS_NAME))
    return {name: value["data"] for name, value in answer["data"][0].items()}


# -- the hypercall itself ----------------------------------------------------

def raw():
    """{domid: {total, extra, pod_cache, dying, nodes: {node: pages}}} from heapcall domains."""
    domains = {}
    for row in run(TOOLS + "heapcall", "domains").splitlines():
        if row.startswith("#"):
            continue
        domid, flags, _, total, extra, _, pod_cache, _, *pages = row.split()
        domains[int(domid)] = {"total": int(total), "extra": int(extra), "pod_cache": int(pod_cache), "dying": "d" in flags,
                               "nodes": {node: int(count) for node, count in enumerate(pages) if int(count)}}
    return domains


def heap_nodes():
    """[{present, free, low, dirty}] in pages, by node."""
    rows = [list(map(int, row.split())) for row in run(TOOLS + "heapcall", "nodes").splitlines() if row[0] != "#"]
    return [dict(zip(("present", "free", "low", "dirty"), row[1:5])) for row in rows]
