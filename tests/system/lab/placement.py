#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where placed domains' pages are on real Xen, by debug key u: built by stock xl from the lines numad-xen prints.

usage: placement.py [STEP...]      all that the patched hypervisor allows, or `stock`"""
import subprocess

from host import MIB_PAGES, create, destroy, fresh_status, heap_nodes, run, status, vcpu_list, wait_for, walk
from placing import (MIB, Guest, ask, domain, held_as_promised, main, near, nodes, reserved, scrubbed, settle, steps_of, tap)

STORM = ("1200/2", "900/2", "700/2", "600/1", "500/2", "500/1", "400/1", "400/2", "300/1", "300/1", "256/1", "256/1")


# -- `available` is what fits -------------------------------------------------

def fill(step, order, vcpus=1):
    """Each node gets a domain as large as `available` says, less the memory Xen needs for it."""
    guests = []
    for node in order:
        available = nodes()[node]["available"]
        size = available // MIB - vcpus
        guest = Guest(f"fill{node}", size, "--strict", "--nodes", str(node), vcpus=vcpus)
        tap.equal((guest.promised, guest.overhead), ({node: size}, vcpus * MIB), f"{step}: node {node}: {size} MiB promised")
        left = nodes(status())[node]["available"]
        tap.ok(0 <= left < 2 * MIB, f"{step}: node {node}: nothing is left", left)
        guests.append((node, guest.build()))
    walked = walk()
    for node, guest in guests:
        tap.equal(walked[guest.domid]["nodes"], {node: guest.memory * MIB_PAGES}, f"{step}: node {node}: no page spilled")
        guest.commit()
    document = fresh_status()
    reserved(step, {}, document)
    for node, guest in guests:
        row = domain(guest.domid, document)
        tap.equal((row["placement"], row["locality"]), ({"token": guest.token, "nodes": [node], "kept": True}, 1.0),
                  f"{step}: node {node}: the status says so")


def leftovers():
    """Domains of odd sizes come and go; half of them stay."""
    names = []
    for turn, size in enumerate((17, 33, 301, 65, 129, 257, 19, 300, 35, 131, 77, 99)):
        names.append(f"odd{turn}")
        create(names[-1], size, "pvh" if turn % 3 == 2 else "pv", node=turn % 4, vcpus=1 + turn % 2)
    destroy(*names[::2])
    scrubbed()


def step_fill():
    settle()
    fill("after boot", (3, 2, 1, 0), 2)
    settle()
    leftovers()
    fill("beside domains of odd sizes", (0, 1, 2, 3))
    settle()
    fill("when those are gone", (1, 0, 3, 2))


def step_refuse():
    """One page more than fits is refused, and refusing leaves nothing behind."""
    settle()
    before = nodes()
    size = before[2]["available"] // MIB + 1
    refused = ask("numad-xen", "place", "--vcpus", "1", "--memory", f"{size}M", "--type", "pv", "--strict", "--nodes", "2")
    tap.equal((refused.returncode, refused.stdout), (3, ""), "more than there is on the node: NoFit")
    tap.ok("node 2" in refused.stderr, "and the reason names the node", refused.stderr)
    tap.note(refused.stderr)
    whole = sum(row["free"] for row in before.values()) // MIB + 1
    refused = ask("numad-xen", "place", "--vcpus", "1", "--memory", f"{whole}M", "--type", "pv")
    tap.equal(refused.returncode, 3, "more than the host has: NoFit")
    reserved("refused", {})


# -- memory that is not scrubbed ----------------------------------------------

class Busy:
    """dom0's vCPUs keep the CPUs of node 2 from scrubbing."""

    def __enter__(self):
        for vcpu, cpu in (("0", "4"), ("1", "5")):
            run("xl", "vcpu-pin", "0", vcpu, cpu)
        self.burners = [subprocess.Popen(["nice", "-n", "19", "sh", "-c", "while :; do :; done"]) for _ in range(3)]

    def __exit__(self, *_):
        for burner in self.burners:
            burner.kill()
            burner.wait()
        run("xl", "vcpu-pin", "0", "all", "all")


def crowd():
    """Elsewhere more vCPUs are at home than dom0's two on node 2, which so is the node to be on."""
    for number in range(9):
        create(f"crowd{number}", 16, node=(0, 1, 3)[number % 3])


def step_dirty():
    """Xen takes clean memory of any node before it takes dirty memory of the node that is asked for."""
    settle()
    request = ("--vcpus", "1", "--memory", "1400M", "--type", "pv")
    with Busy():
        crowd()
        fresh_status(11)
        clean = run("numad-xen", "place", "--dry-run", *request, "--format", "xl")
        tap.ok('"4-5"' in clean, "clean, node 2 is the one to be on", clean)
        destroy(create("before", 1500, node=2))
        dirty = nodes()[2]["dirty"]
        tap.ok(dirty and dirty > 1000 * MIB, "a domain's memory is dirty when it has ended", dirty)
        guest = Guest("clean", 1400).build()
        asked = ask("numad-xen", "place", "--dry-run", *request, "--strict", "--nodes", "2")
        tap.ok(heap_nodes()[2]["dirty"] > 1000 * MIB_PAGES, "it still is when another is built", heap_nodes())
    held_as_promised(guest, walk(), 0)
    tap.ok(2 not in guest.promised, "so that one goes to another node", guest.promised)
    tap.ok("scrubbed" in asked.stdout + asked.stderr, "where no other will do, the answer says so", asked.stdout + asked.stderr)
    tap.note(asked.stdout + asked.stderr)


# -- storms -------------------------------------------------------------------

def locality(domids):
    """Page-weighted, of all vCPUs, from key u and xl vcpu-list."""
    walked, affinities, local, total = walk(), vcpu_list(), 0.0, 0
    for domid in domids:
        held, sets = walked[domid]["nodes"], [(v["hard"] & v["soft"]) or v["hard"] for v in affinities[domid]]
        total += sum(held.values())
        local += sum(pages * len(where & {2 * node, 2 * node + 1}) / len(where) for node, pages in held.items()
                     for where in sets) / len(sets)
    return local / total


def step_storm():
    """Twelve domains in sequence, by stock xl alone and placed."""
    settle()
    sizes = [tuple(map(int, entry.split("/"))) for entry in STORM]
    alone = locality([create(f"s{n}", size, vcpus=vcpus) for n, (size, vcpus) in enumerate(sizes)])
    settle()
    guests = [Guest(f"s{n}", size, vcpus=vcpus).build().commit() for n, (size, vcpus) in enumerate(sizes)]
    placed = locality([guest.domid for guest in guests])
    tap.note(f"locality of {len(guests)} domains in sequence: stock xl {alone:.4f}, placed {placed:.4f}")
    tap.ok(placed > 0.95 and placed > alone, "placed, the domains' memory is where their vCPUs are", f"{placed} {alone}")
    document, walked = fresh_status(), walk()
    for guest in guests:
        if len(guest.promised) == 1:
            held_as_promised(guest, walked, 0)
            tap.equal(domain(guest.domid, document)["placement"]["kept"], True, f"{guest.name}: the promise is kept")
        else:
            # Of several nodes the one that runs out gives its margin for small chunks, too.
            held_as_promised(guest, walked, 32)
            tap.note(f"{guest.name}: kept: {domain(guest.domid, document)['placement']['kept']}")


# -- PVH ----------------------------------------------------------------------

def hold_promise(guest, slack):
    """A PVH domain has some special pages beside its memory."""
    held_as_promised(guest, walk(), slack)
    guest.commit()
    tap.equal(domain(guest.domid)["placement"]["kept"], True, f"{guest.name}: the promise is kept")


def step_pvh():
    settle()
    hold_promise(Guest("pvh one node", 700, "--strict", "--nodes", "1", kind="pvh").build(), 0.5)
    settle()
    guest = Guest("pvh two nodes", 900, "--nodes", "2,3", "--policy", "interleave", kind="pvh", vcpus=2).build()
    tap.equal(set(guest.promised), {2, 3}, "interleave: on both nodes")
    hold_promise(guest, 2.5)
    settle()
    uneven()


def uneven():
    """An extent of a GiB on one node, then turns of 2 MiB until the other has no more."""
    for node, left in ((2, 1500), (3, 300)):
        filler = Guest(f"filler{node}", nodes()[node]["available"] // MIB - left, "--strict", "--nodes", str(node)).build().commit()
        held_as_promised(filler, walk(), 0)
    guest = Guest("pvh uneven", 1700, "--strict", "--nodes", "2,3", kind="pvh", vcpus=2).build()
    tap.ok(guest.promised[2] > 3 * guest.promised[3], "it is uneven", guest.promised)
    hold_promise(guest, 32)  # Xen uses up the margin for small chunks


def step_pvh_gib():
    """A PVH domain of a GiB or more takes extents of 1 GiB, from wherever one is: what comes of it is told."""
    settle()
    guest = Guest("gib", 1500, "--strict", "--nodes", "3", kind="pvh").build()
    hold_promise(guest, 0.5)
    settle()
    guest = Guest("no gib", 1500, "--strict", "--nodes", "1", kind="pvh").build().commit()
    held = guest.pages()
    tap.note(f"1500 MiB promised on node 1, where no GiB is free in one piece: pages {held}")
    kept = held.get(1, 0) >= 1350 * MIB_PAGES
    tap.equal(domain(guest.domid)["placement"]["kept"], kept, "the status says whether the promise was kept")


# -- a hypervisor without the patches -----------------------------------------

def step_stock():
    """Memory by node is not known: reservations count all the same, and nothing guessed is shown as a fact."""
    settle()
    before = nodes()
    guest = Guest("stock", 600, "--strict", "--nodes", "2", vcpus=2)
    reserved("placed", {2: 602.0})
    near("placed", nodes()[2]["available"], before[2]["available"] - 602 * MIB)
    guest.build()
    document = fresh_status()
    reserved("built", {2: 2.0}, document)
    tap.equal(guest.pages(), {2: 600 * MIB_PAGES}, "built: no page spilled")
    near("built", nodes(document)[2]["available"], before[2]["available"] - 602 * MIB, 4)
    guest.commit()
    document = fresh_status()
    reserved("committed", {}, document)
    row = domain(guest.domid, document)
    tap.equal((row["memory"]["nodes"], row["locality"]), (None, None), "where its memory is is not known")
    tap.equal(row["placement"], {"token": guest.token, "nodes": [2], "kept": None}, "so it is not known whether the promise was kept")
    tap.equal([node["dirty"] for node in nodes(document).values()], [None] * 4, "dirty memory is not known")
    again = Guest("again", 300, "--strict", "--nodes", "2")
    destroy(guest.domid)
    wait_for("memory is back", lambda: abs(nodes()[2]["available"] - before[2]["available"] + 301 * MIB) < 4 * MIB)
    reserved("its death", {2: 301.0})
    run("numad-xen", "release", again.token)
    settle()
    fill_stock()


def fill_stock():
    """`available` is what fits here too."""
    guests = []
    for node in (3, 2, 1, 0):
        size = nodes()[node]["available"] // MIB - 1
        guests.append((node, Guest(f"fill{node}", size, "--strict", "--nodes", str(node)).build()))
    walked = walk()
    for node, guest in guests:
        tap.equal(walked[guest.domid]["nodes"], {node: guest.memory * MIB_PAGES}, f"fill: node {node}: no page spilled")


if __name__ == "__main__":
    main(steps_of(globals()))
