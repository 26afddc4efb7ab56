# SPDX-License-Identifier: LGPL-2.1-or-later
"""The firmware's tables as dom0 has them, read anew: what numad-xen says of them is held against this."""
import struct

TABLES = "/sys/firmware/acpi/tables/"


def _entries(name, first):
    """(type, bytes) of each subtable."""
    with open(TABLES + name, "rb") as file:
        data = file.read()
    size = struct.unpack_from("<I", data, 4)[0]
    assert data[:4].decode() == name and size == len(data) and sum(data) % 256 == 0, f"{name} is whole"
    while first < size:
        kind, length = data[first], data[first + 1]
        assert 2 <= length <= size - first, f"{name}: entry at {first}"
        yield kind, data[first:first + length]
        first += length


def cpu_of_apic():
    """{APIC id: CPU}: Xen numbers CPUs as the APIC table lists them."""
    ids = []
    for kind, entry in _entries("APIC", 44):
        if kind == 0 and entry[4] & 1:
            ids.append(entry[3])
        elif kind == 9 and entry[8] & 1:
            ids.append(struct.unpack_from("<I", entry, 4)[0])
    return {apic: cpu for cpu, apic in enumerate(ids)}


def srat():
    """{APIC id: domain}, [(domain, start, size)] of what is enabled and not empty."""
    cpus, ranges = {}, []
    for kind, entry in _entries("SRAT", 48):
        if kind == 0 and struct.unpack_from("<I", entry, 4)[0] & 1:
            cpus[entry[3]] = entry[2] | entry[9] << 8 | entry[10] << 16 | entry[11] << 24
        elif kind == 2 and struct.unpack_from("<I", entry, 12)[0] & 1:
            domain, apic = struct.unpack_from("<II", entry, 4)
            cpus[apic] = domain
        elif kind == 1:
            domain, _, start, size, _, flags = struct.unpack_from("<IHQQII", entry, 2)
            if flags & 1 and size:
                ranges.append((domain, start, size))
    return cpus, ranges


def slit():
    """rows[from][to] by domain, 255 as None"""
    with open(TABLES + "SLIT", "rb") as file:
        data = file.read()
    n = struct.unpack_from("<Q", data, 36)[0]
    assert len(data) == 44 + n * n, "SLIT is whole"
    return [[None if d == 255 else d for d in data[44 + n * row:44 + n * row + n]] for row in range(n)]
