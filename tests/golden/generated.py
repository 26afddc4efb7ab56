#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hosts of the golden tests that are easier to say than to write down: large ones, and those with firmware tables.

    generated.py            names them
    generated.py NAME       prints one as a host description
"""
import base64
import json
import struct
import sys

K, M, G, T = 1 << 10, 1 << 20, 1 << 30, 1 << 40
GB = 262144  # pages
HOLE = INVALID = 4294967295
PAGES = {"features": ["node-pages", "node-memory"]}


# --- firmware tables ---

def table(signature, revision, body):
    """An ACPI table with a good checksum."""
    data = signature + struct.pack("<IBB6s8sI4sI", 36 + len(body), revision, 0, b"NUMAD ", b"GOLDEN  ", 1, b"TEST", 1)
    data += body
    return data[:9] + bytes([-sum(data) & 255]) + data[10:]


def memory(pxm, base, length, hotplug=False, enabled=True):
    flags = (1 if enabled else 0) | (2 if hotplug else 0)
    return struct.pack("<BBIHQQIIQ", 1, 40, pxm, 0, base, length, 0, flags, 0)


def apic(pxm, apic_id):
    return struct.pack("<BBBBIB3sI", 0, 16, pxm & 255, apic_id, 1, 0, (pxm >> 8).to_bytes(3, "little"), 0)


def x2apic(pxm, apic_id, flags=1):
    return struct.pack("<BBHIIIII", 2, 24, 0, pxm, apic_id, flags, 0, 0)


def gicc(pxm, uid):
    return struct.pack("<BBIIII", 3, 18, pxm, uid, 1, 0)


def srat(*entries):
    return base64.b64encode(table(b"SRAT", 3, struct.pack("<IQ", 1, 0) + b"".join(entries))).decode()


def slit(rows):
    return base64.b64encode(table(b"SLIT", 1, struct.pack("<Q", len(rows)) + bytes(sum(rows, [])))).decode()


# --- parts of a description ---

def node(size, free, cpus="", distances=None):
    row = {"size": size, "free": free, "cpus": cpus}
    if distances:
        row["distances"] = distances
    return row


def hole(n=0):
    return {"size": HOLE, "free": 0, **({"distances": [INVALID] * n} if n else {})}


def span(first, n):
    return f"{first}-{first + n - 1}" if n > 1 else str(first)


def domain(domid, name, node_pages, vcpus, **more):
    return {"domid": domid, "name": name, "type": "pvh" if domid else "pv", "node_pages": node_pages, "vcpus": vcpus,
            **more}


def dom0(n_nodes, first=0):
    return domain(0, "Domain-0", [262144 if i == first else 0 for i in range(n_nodes)], [{}, {}])


def present(*sizes):
    return [{"present": size, "low": 0, "dirty": 0} for size in sizes]


def host(nodes, **more):
    more.setdefault("node_extra", [{"low": 0}])
    return {"format": "numad-xen-host/1", "xen_version": "4.17.5", **PAGES, "nodes": nodes, **more}


# --- what the firmware says and what the hypervisor makes of it ---

def two_in_firmware(*ranges):
    cpus = [apic(cpu // 4, cpu) for cpu in range(8)]
    return {"srat": srat(*cpus, *ranges), "slit": slit([[10, 21], [21, 10]])}


def numa_off():
    """`numa=off` on Xen's command line: one node, of which the SRAT says that it is two."""
    nodes = [node(18 * G, 9 * G, "0-7", [10])]
    tables = two_in_firmware(memory(0, 0, 2 * G), memory(0, 4 * G, 6 * G), memory(1, 10 * G, 8 * G))
    return host(nodes, domains=[dom0(1)], **tables)


def numa_fake_4():
    """`numa=fake=4` on a machine of one node: Xen deals memory and CPUs out evenly, whatever the SRAT says."""
    nodes = [node(4 * G, (1 + i) * 512 * M, f"{i},{i + 4}") for i in range(4)]
    tables = {"srat": srat(*[apic(0, cpu) for cpu in range(8)], memory(0, 0, 2 * G), memory(0, 4 * G, 14 * G))}
    return host(nodes, domains=[dom0(4)], **tables)


def interleaved():
    """Case 16: node 0 has [0, 4G) and [8G, 12G), node 1 what is between; Xen refuses that and takes one node."""
    nodes = [node(12 * G, 6 * G, "0-7", [10])]
    tables = two_in_firmware(memory(0, 0, 4 * G), memory(1, 4 * G, 4 * G), memory(0, 8 * G, 4 * G))
    return host(nodes, node_extra=present(12 * G), domains=[dom0(1)], **tables)


def pxm_from_1():
    """Case 13: proximity domains 1-4. Xen numbers nodes as it meets them: node is not PXM."""
    entries = [apic(1 + cpu // 2, cpu) for cpu in range(8)]
    entries += [memory(1, 0, 2 * G), memory(1, 4 * G, 2 * G)] + [memory(2 + i, (6 + 4 * i) * G, 4 * G) for i in range(3)]
    far = [[10 if a == b else 16 if a // 2 == b // 2 else 22 for b in range(4)] for a in range(4)]
    nodes = [node(6 * G if i == 0 else 4 * G, G, span(2 * i, 2), far[i]) for i in range(4)]
    return host(nodes, domains=[dom0(4)], srat=srat(*entries))


def ranges_between():
    """Case 14: an Arm server whose nodes' ranges lie in between each other's; two small nodes without CPUs."""
    ranges = {0: [(0x80000000000, 0x80000000), (0x800c0000000, 0x3f40000000)],
              1: [(0x400000000000, 0xc0000000), (0x400100000000, 0x3f00000000)],
              2: [(0x88300000, 0x100000), (0x90000000, 0x30000000)], 3: [(0xc2000000, 0x3e000000)]}
    order = [(2, 0), (2, 1), (0, 0), (0, 1), (3, 0), (1, 0), (1, 1)]
    entries = [gicc(pxm, 64 * pxm + i) for pxm in (0, 1) for i in range(64)]
    entries += [memory(pxm, *ranges[pxm][i]) for pxm, i in order]
    far = [[10, 20, 20, 20], [20, 10, 20, 20], [20, 20, 10, 20], [20, 20, 20, 10]]
    nodes = []
    for pxm in range(4):
        size = ranges[pxm][-1][0] + ranges[pxm][-1][1] - ranges[pxm][0][0]
        nodes.append(node(size, sum(r[1] for r in ranges[pxm]) // 2, span(64 * pxm, 64) if pxm < 2 else "", far[pxm]))
    return host(nodes, domains=[dom0(4)], srat=srat(*entries), slit=slit(far))


def hotplug():
    """Case 18: room for memory that may be added, from 1 TiB up, is not memory."""
    cpus = [x2apic(cpu // 4, 256 + cpu, 0xffffffff) for cpu in range(8)]
    ranges = [memory(0, 0, 2 * G), memory(0, 4 * G, 14 * G), memory(1, 18 * G, 16 * G),
              memory(0, 1 * T, 1 * T, hotplug=True), memory(1, 2 * T, 2 * T, hotplug=True),
              memory(1, 4 * T, 1 * T, enabled=False)]
    nodes = [node(18 * G, 8 * G, "0-3", [10, 21]), node(16 * G, 8 * G, "4-7", [21, 10])]
    return host(nodes, domains=[dom0(2)], srat=srat(*cpus, *ranges), slit=slit([[10, 21], [21, 10]]))


def broken_tables():
    """Case 22: an entry of length 0, and a SLIT that says more localities than it has bytes for."""
    bad_srat = table(b"SRAT", 3, struct.pack("<IQ", 1, 0) + memory(0, 0, 8 * G) + b"\1\0" + bytes(38))
    bad_slit = table(b"SLIT", 1, struct.pack("<Q", 65536) + bytes([10, 20, 20, 10]))
    nodes = [node(8 * G, 4 * G, "0-3", [10, 20]), node(8 * G, 4 * G, "4-7", [20, 10])]
    return host(nodes, domains=[dom0(2)], srat=base64.b64encode(bad_srat).decode(),
                slit=base64.b64encode(bad_slit).decode())


def slit_differs():
    """The SLIT calls node 1 unreachable and Xen says 20, as some versions do."""
    nodes = [node(8 * G, 4 * G, "0-3", [10, 20]), node(8 * G, 4 * G, "4-7", [20, 10])]
    tables = two_in_firmware(memory(0, 0, 8 * G), memory(1, 8 * G, 8 * G))
    return host(nodes, node_extra=present(8 * G, 8 * G), domains=[dom0(2)],
                **{**tables, "slit": slit([[10, 255], [255, 10]])})


# --- many of everything ---

def online_gaps():
    """Case 8: nodes 0-1,3-9,11-17,19-25,27-33; a distance stands in the column of its node id."""
    gaps, n = {2, 10, 18, 26}, 34
    nodes, cpu = [], 0
    for i in range(n):
        row = [INVALID if i in gaps or k in gaps else 10 if i == k else 11 + abs(i - k) for k in range(n)]
        nodes.append({**hole(), "distances": row} if i in gaps else node(8 * G, (i % 8) * G, span(4 * cpu, 4), row))
        cpu += i not in gaps
    return host(nodes, domains=[dom0(n, 3), domain(9, "last", [0] * 33 + [262144], [{"soft": "116-119"}] * 2)])


def superchip():
    """Case 32: 34 nodes, two of them with CPUs; 32 are slots for a GPU's memory, of which two are filled."""
    n, filled = 34, {2: 0, 18: 1}
    nodes = []
    for i in range(n):
        owner = i if i < 2 else (i - 2) // 16
        row = [10 if i == k else 40 if i < 2 and k < 2 else 80 if owner == (k if k < 2 else (k - 2) // 16) else 120
               for k in range(n)]
        size = 480 * G if i < 2 else 184 * G if i in filled else 0
        nodes.append(node(size, size // 2, span(72 * i, 72) if i < 2 else "", row))
    gpu = [0] * n
    gpu[18] = 4 * 262144
    return host(nodes, domains=[dom0(n), domain(1, "by-its-gpu", gpu, [{"soft": "72-143"}] * 8)])


def nodes_66():
    """Case 38: ids on both sides of what fits 32 and 64 bits."""
    n = 66
    nodes = [node(4 * G, (i % 4) * G, span(2 * i, 2)) for i in range(n)]
    names = {31: "bit-31", 32: "bit-32", 63: "bit-63", 64: "bit-64", 65: "bit-65"}
    return host(nodes, domains=[dom0(n)] + [
        domain(i, names[i], [65536 if k == i else 0 for k in range(n)], [{"hard": span(2 * i, 2)}] * 2,
               node_affinity=str(i)) for i in names])


def ids_to_1023():
    """Twelve nodes with ids up to 1023; the other 1012 are holes."""
    ids, n = [0, 1, 31, 32, 63, 64, 127, 255, 256, 511, 512, 1023], 1024
    nodes = [node(16 * G, (1 + ids.index(i)) * G, span(8 * ids.index(i), 8)) if i in ids else hole() for i in range(n)]
    pages = [0] * n
    pages[1023] = pages[512] = 262144
    return host(nodes, domains=[dom0(n, 31), domain(1, "at-the-end", pages, [{"soft": "88-95"}] * 2)])


def nodes_1024():
    """All 1024 nodes there can be: 256 sockets of four, in 16 drawers."""
    n = 1024
    near = [10, 12, 12, 12]

    def row(i):
        return [near[i ^ k] if i // 4 == k // 4 else 22 if i // 64 == k // 64 else 40 for k in range(n)]
    nodes = [node(64 * G, (1 + i % 60) * G, span(8 * i, 8), row(i)) for i in range(n)]
    pages = [262144 if i % 100 == 7 else 0 for i in range(n)]
    return host(nodes, threads_per_core=2, domains=[dom0(n), domain(1, "scattered", pages, [{"soft": "0-511"}] * 4)])


def nodes_1024_unlike():
    """1024 nodes of which no two are alike: distances without any order, ids of CPUs dealt out one by one."""
    n = 1024
    nodes = []
    for i in range(n):
        row = [10 if i == k else 11 + (i * k * 7919 + i * 31 + k * 17) % 244 for k in range(n)]
        nodes.append(node(i * 64 * M, i * M, ",".join(str(i + 1024 * t) for t in range(8)), row))
    return host(nodes, domains=[dom0(n, 1023)])


def cpus_8192():
    """8192 CPUs on four nodes, siblings 4096 apart; a quarter of the threads offline."""
    rows = []
    for cpu in range(8192):
        core = cpu % 4096
        offline = cpu >= 4096 and core % 2
        rows.append({"cpu": cpu, "core": INVALID if offline else core % 1024,
                     "socket": INVALID if offline else core // 1024, "node": INVALID if offline else core // 1024})
    nodes = [{"size": 2 * T, "free": T} for _ in range(4)]
    return host(nodes, topology=rows, domains=[dom0(4), domain(1, "all", [GB] * 4, [{}] * 16),
                                               domain(2, "odd", [GB, 0, 0, 0], [{"hard": ",".join(
                                                   str(c) for c in range(1, 1024, 2))}])])


def memory_64t():
    """64 TiB on eight nodes; the counts do not fit 32 bits of KiB, MiB or pages."""
    nodes = [node(8 * T, (8 - i) * T if i else 3 * K, span(64 * i, 64)) for i in range(8)]
    big = [7 * 1024 * GB] * 7 + [0]
    return host(nodes, threads_per_core=2, node_extra=present(*[8 * T] * 8),
                domains=[dom0(8, 7), domain(1, "most-of-it", big, [{}] * 64), domain(2, "one-page", [0] * 7 + [1], [{}])])


def many_devices():
    """400 functions of three adapters, and single ones; what a host with SR-IOV shows."""
    devices = [{"pci": "0000:00:1f.0", "node": 0}, {"pci": "0000:01:00.0", "node": 0}]
    for bus, at, n in ((0x3b, 0, 128), (0x86, 1, 256), (0xaf, 1, 16)):
        devices += [{"pci": f"0000:{bus:02x}:{i // 8:02x}.{i % 8}", "node": at} for i in range(n)]
    devices += [{"pci": f"0001:{i:02x}:00.0", "node": 1} for i in range(12)] + [{"pci": "0000:ff:1f.7"}]
    nodes = [node(64 * G, 32 * G, "0-15"), node(64 * G, 32 * G, "16-31")]
    return host(nodes, devices=devices, domains=[dom0(2)])


HOSTS = {name.replace("_", "-"): function for name, function in list(globals().items()) if name in (
    "numa_off", "numa_fake_4", "interleaved", "pxm_from_1", "ranges_between", "hotplug", "broken_tables",
    "slit_differs", "online_gaps", "superchip", "nodes_66", "ids_to_1023", "nodes_1024", "nodes_1024_unlike",
    "cpus_8192", "memory_64t", "many_devices")}


def text(name):
    return json.dumps(HOSTS[name]())


def main():
    if len(sys.argv) == 1:
        print("\n".join(HOSTS))
    elif len(sys.argv) == 2 and sys.argv[1] in HOSTS:
        print(text(sys.argv[1]))
    else:
        sys.exit("usage: generated.py [NAME]; without NAME it names the hosts")


if __name__ == "__main__":
    main()
