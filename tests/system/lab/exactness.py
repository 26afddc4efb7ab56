#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts are exact: after every step of a host's life the per-domain per-node pages of the hypercall and of
`numad-xen status` equal, for every live domain, what debug key u prints.

usage: exactness.py [--counters] [STEP...]
--counters: key u prints the counters here, so a populate-on-demand cache is in what it prints."""
import concurrent.futures
import random
import sys
import time

from host import (MIB_PAGES, DomTool, came_up, create, destroy, destroy_all, fresh_status, raw, run, start_linux,
                  status_pages, wait_for, walk)
from tap import Tap

tap = Tap()
COUNTERS = "--counters" in sys.argv


def differences(walked, counted):
    """Lines that say where a walk and the counters differ by more than the domain's PoD cache."""
    lines = []
    for domid in sorted(walked.keys() | counted.keys()):
        seen, count = walked.get(domid), counted.get(domid)
        if not seen or not count:
            lines.append(f"domain {domid}: walk {seen}, counters {count}")
            continue
        nodes = seen["nodes"].keys() | count["nodes"].keys()
        over = {n: count["nodes"].get(n, 0) - seen["nodes"].get(n, 0) for n in nodes}
        cache = 0 if COUNTERS else count["pod_cache"]
        wrong = min(over.values(), default=0) < 0 or sum(over.values()) != cache
        if wrong or seen["total"] != count["total"] - count["extra"]:
            lines.append(f"domain {domid}: walk {seen}, counters {count}")
    return lines


def check(step):
    """Compares the three views of one moment: of a host where nothing changed between two walks."""
    for _ in range(10):
        before, counted, document, after = walk(), raw(), fresh_status(), walk()
        if before == after and counted == raw():
            break
    else:
        tap.ok(False, f"{step}: the host is at rest", f"{before}\n{after}")
        return None
    wrong = differences(before, counted)
    tap.ok(not wrong, f"{step}: counters equal key u ({len(before)} domains)", "\n".join(wrong))
    shown = status_pages(document)
    wanted = {domid: row["nodes"] for domid, row in counted.items()}
    tap.equal(shown, wanted, f"{step}: status shows the same")
    return counted


def step_dom0():
    counted = check("dom0 alone")
    tap.ok(counted and set(counted) == {0} and sum(counted[0]["nodes"].values()) > 1000, "dom0's pages are counted")


def sizes(kind, rows, **options):
    """Paused domains of the sizes, each on its node; then they go, two first."""
    made = {}
    for number, (memory, node) in enumerate(rows):
        made[create(f"s{number}", memory, kind, node=node, **options)] = (memory, node)
    counted = check(f"{kind} domains of {', '.join(str(m) for m, _ in rows)} MiB")
    for domid, (memory, node) in made.items():
        held = counted[domid]["nodes"].get(node, 0) if counted else 0
        tap.ok(held >= memory * MIB_PAGES * 9 // 10, f"{kind} {memory} MiB is on node {node}", f"{held} pages")
    destroy(*list(made)[::2])
    check(f"{kind}: every other one destroyed")
    destroy_all()
    check(f"{kind}: all destroyed")


def step_pv():
    sizes("pv", [(32, 0), (100, 1), (333, 2), (700, 3)], vcpus=2)


def step_pvh():
    sizes("pvh", [(24, 3), (200, 1), (513, 2)])


def step_split():
    domid = create("wide", 4300)
    counted = check("a domain larger than two nodes")
    tap.ok(counted and len(counted[domid]["nodes"]) >= 3, "it is spread over three nodes or more")
    destroy_all()
    check("it is gone")


def total_is(domid, mib, slack=2):
    def predicate():
        return abs(walk()[domid]["total"] - mib * MIB_PAGES) <= slack * MIB_PAGES
    return predicate


def step_balloon():
    guests = {kind: start_linux(f"linux-{kind}", 256, kind, node) for kind, node in (("pv", 2), ("pvh", 1))}
    check("two running Linux guests")
    for target in (160, 96, 200, 256):
        for kind in guests:
            run("xl", "mem-set", f"linux-{kind}", str(target))
        for kind, domid in guests.items():
            wait_for(f"{kind} guest at {target} MiB", total_is(domid, target), 120)
        check(f"running guests ballooned to {target} MiB")
    destroy_all()
    check("running guests destroyed")


def step_pod():
    for _ in range(4):
        domid = create("pod", 160, "pvh", linux=True, maxmem=320, node=3)
        counted = check("a populate-on-demand guest, paused")
        tap.ok(counted and counted[domid]["pod_cache"] > 60 * MIB_PAGES, "it has a cache", counted and counted[domid])
        run("xl", "unpause", "pod")
        if came_up("pod", domid):
            break
    seen = []

    def rests():
        seen.append(raw()[domid])
        return len(seen) > 8 and all(row == seen[-1] for row in seen[-8:])
    wait_for("the guest is at rest", rests, 120, 1)
    tap.ok(counted and seen[-1]["pod_cache"] < counted[domid]["pod_cache"], "it took memory from its cache", seen[-1])
    check("the same, running")
    destroy_all()
    check("the same, destroyed")


def step_loop():
    keep = create("keep", 48, node=1)

    def make(turn):
        create(f"loop{turn}", 16 + 8 * (turn % 7), node=turn % 4)

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for first in range(0, 60, 3):
            turns = range(first, first + 3)
            list(pool.map(make, turns))
            if first % 15 == 6:
                check(f"turn {first} of create and destroy, three at once")
            list(pool.map(destroy, [f"loop{turn}" for turn in turns]))
    counted = check("60 domains created and destroyed")
    tap.equal(set(counted or ()), {0, keep}, "nothing is left of them")
    destroy_all()


def step_domid():
    """The same id three times: each starts from zero."""
    tool = DomTool()
    for turn, node in enumerate((2, 0, 3)):
        tap.equal(tool("create", 77), 77, f"domid 77 is used for the {turn + 1}. time")
        counted = check("a new domain that owns nothing")
        tap.equal(counted and counted[77]["nodes"], {}, "its counts are zero")
        tool("populate", 0, 2000 + turn, 0, node)
        tool("populate", 4096, 4, 9, node)
        counted = check("fed by hand")
        tap.equal(counted and counted[77]["nodes"], {node: 2000 + turn + 2048}, f"it is all on node {node}")
        tool("destroy")
        wait_for("domain 77 is gone", lambda: 77 not in walk())
    tool.close()
    check("domid 77 is gone")


def step_churn():
    """Random populate and give-back of orders 0 to 9 on random nodes, against a model."""
    seed = 4711
    rng = random.Random(seed)
    tool = DomTool()
    domid = tool("create", 0)
    model, chunks = {}, []
    for turn in range(1, 401):
        if chunks and rng.random() < 0.45:
            pfn, count, order, node = chunks.pop(rng.randrange(len(chunks)))
            tool("return", pfn, count, order)
            model[node] -= count << order
        else:
            order, node = rng.choice((0, 0, 0, 1, 3, 5, 9)), rng.randrange(4)
            count = rng.randrange(1, 3 if order == 9 else 60)
            pfn = turn * 512 - 512
            count = min(count, 512 >> order)
            tool("populate", pfn, count, order, node)
            chunks.append((pfn, count, order, node))
            model[node] = model.get(node, 0) + (count << order)
        if turn % 100 == 0:
            counted = check(f"{turn} random changes (seed {seed})")
            tap.equal(counted and counted[domid]["nodes"], {n: p for n, p in model.items() if p}, "as the model says")
    tool("destroy")
    tool.close()
    wait_for("it is gone", lambda: domid not in walk())
    check("random changes: destroyed")


def step_exchange():
    """memory_exchange gives other pages for old ones: the sum stays, the node moves."""
    tool = DomTool()
    domid = tool("create", 0)
    tool("populate", 0, 1024, 0, 1)
    check("1024 pages on node 1")
    tool("exchange", 0, 512, 0, 0, 2)
    counted = check("512 single pages exchanged")
    tap.equal(counted and counted[domid]["nodes"], {1: 512, 2: 512}, "they moved to node 2")
    tool("exchange", 512, 512, 0, 9, 3)
    counted = check("512 pages exchanged for a superpage")
    tap.equal(counted and counted[domid]["nodes"], {2: 512, 3: 512}, "it is on node 3")
    tool("destroy")
    tool.close()
    wait_for("it is gone", lambda: domid not in walk())


def step_dying():
    """A page somebody still maps keeps a destroyed domain, dying, with exactly that page."""
    tool = DomTool()
    domid = tool("create", 0)
    tool("populate", 0, 300, 0, 2)
    tool("hold", 7)
    tool("destroy")
    wait_for("only the held page is left", lambda: sum(walk()[domid]["nodes"].values()) == 1)
    counted = check("a dying domain")
    tap.ok(counted and counted[domid]["nodes"] == {2: 1} and counted[domid]["dying"], "it holds one page and is dying",
           counted and counted[domid])
    state = [d["state"] for d in fresh_status()["domains"] if d["domid"] == domid]
    tap.equal(state, ["dying"], "status says dying")
    tool("drop")
    tool.close()
    wait_for("it is gone", lambda: domid not in walk())
    check("the page is dropped")


STEPS = {name[5:]: function for name, function in list(globals().items()) if name.startswith("step_")}


def main():
    unknown = set(sys.argv[1:]) - set(STEPS) - {"--counters"}
    tap.ok(not unknown, "all steps named exist", unknown)
    for name in [name for name in sys.argv[1:] if name in STEPS] or STEPS:
        begin = time.monotonic()
        try:
            STEPS[name]()
        except Exception as failure:  # the next step has a host of its own again
            tap.ok(False, f"step {name} runs to its end", repr(failure))
        destroy_all()
        tap.note(f"step {name}: {time.monotonic() - begin:.0f} s")
    tap.done()


main()
