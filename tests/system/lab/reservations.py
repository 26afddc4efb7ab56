#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is reserved and available at every stage of a reservation's life on real Xen, and who may make one.

usage: reservations.py [STEP...]"""
import os
import re
import signal
import stat
import time

from host import MIB_PAGES, NOBODY, DomTool, destroy, fresh_status, hold_against_schemas, run, status, wait_for
from placing import MIB, UNIT, Guest, ask, domain, main, near, nodes, promised, reservation, reserved, settle, steps_of, tap

STATE = "/run/numad-xen"
HANDMADE = (77, "6e756d61-6478-004d-0000-000000000000")  # what domtool makes of this domid


# -- a reservation's life -----------------------------------------------------

def step_grow():
    """What a domain holds already is not set aside any more, at every stage of its building."""
    settle()
    before = nodes()[2]["available"]
    tool, began = DomTool(), time.monotonic()
    guest = Guest("hand", 600, "--strict", "--nodes", "2", "--ttl", "15000", vcpus=2, given=HANDMADE[1])
    reserved("placed", {2: 602.0}, status())
    near("placed", nodes(status())[2]["available"], before - 602 * MIB)
    guest.domid = tool("create", HANDMADE[0])
    for held in (0, 150, 300, 450, 600):
        if held:
            tool("populate", (held - 150) * MIB_PAGES, 75, 9, 2)
        document = fresh_status()
        reserved(f"{held} MiB are there", {2: 602.0 - held}, document)
        # The margin for small chunks grows with the first domain on the node.
        near(f"{held} MiB are there", nodes(document)[2]["available"], before - 602 * MIB, 4)
        decided_on(f"{held} MiB are there", nodes(document)[2]["available"])
    row = reservation(guest.uuid)
    tap.equal((row["domid"], row["expires_ms"]), (guest.domid, None), "the domain's reservation has no end")
    wait_for("more time than its TTL", lambda: time.monotonic() > began + 18)
    tap.ok(reservation(guest.uuid), "and lives as long as the domain")
    tool("populate", 600 * MIB_PAGES, 5, 9, 1)
    reserved("memory on another node", {2: 2.0})
    commit_and_end(guest, tool)


def decided_on(step, available):
    """Decisions see it as the status does, to the MiB or two that two moments differ."""
    for more, wanted in ((-4, 0), (4, 3)):
        size = available // MIB - 1 + more
        asked = ask("numad-xen", "place", "--vcpus", "1", "--memory", f"{size}M", "--type", "pv", "--strict", "--nodes", "2",
                    "--format", "xl")
        tap.equal(asked.returncode, wanted, f"{step}: {size} MiB {'are refused' if wanted else 'fit'}")
        if asked.returncode == 0:
            run("numad-xen", "release", re.search(r"token (\w+)", asked.stdout)[1])


def commit_and_end(guest, tool):
    guest.commit()
    document = fresh_status()
    reserved("committed", {}, document)
    tap.equal(document["reservations"], [], "committed: no reservation any more")
    tap.equal(domain(guest.domid, document)["placement"], {"token": guest.token, "nodes": [2], "kept": True},
              "committed: the domain has a placement")
    guest.commit()
    tap.ok(True, "committing the same again is no error")
    refused = ask("numad-xen", "commit", guest.token, "0")
    tap.equal(refused.returncode, 1, "but another domain is")
    tool("destroy")
    tool.close()
    wait_for("the domain is forgotten", lambda: not domain(guest.domid))
    gone = ask("numad-xen", "release", guest.token)
    tap.ok(gone.returncode == 1 and gone.stderr, "and its token with it", gone.stderr)


def step_death():
    """A reservation ends with its domain, by xl."""
    settle()
    before = nodes()[3]["available"]
    guest = Guest("dies", 700, "--strict", "--nodes", "3").build()
    document = fresh_status()
    reserved("built", {3: 1.0}, document)
    near("built", nodes(document)[3]["available"], before - 701 * MIB, 4)
    tap.equal(reservation(guest.uuid)["domid"], guest.domid, "built: it is found by its UUID")
    hold_against_schemas(tap)
    destroy(guest.domid)
    wait_for("the reservation ends", lambda: not reservation(guest.uuid))
    reserved("destroyed", {})
    wait_for("its memory is back", lambda: abs(nodes()[3]["available"] - before) < MIB)
    other = Guest("lives", 100, "--strict", "--nodes", "3").build().commit()
    tap.ok(domain(other.domid)["placement"], "another one is committed")
    destroy(other.domid)
    wait_for("its placement ends", lambda: not domain(other.domid))


def step_end():
    """TTL and Release."""
    settle()
    before = nodes()
    guest = Guest("late", 500, "--strict", "--nodes", "1", "--ttl", "3000")
    row = reservation(guest.uuid)
    tap.ok(row["domid"] is None and 0 < row["expires_ms"] <= 3000, "a reservation has an end", row)
    wait_for("it ends", lambda: not reservation(guest.uuid), 15)
    document = fresh_status()
    reserved("expired", {}, document)
    near("expired", nodes(document)[1]["available"], before[1]["available"])
    late = ask("busctl", "call", "org.numadxen.NumadXen1", "/org/numadxen/NumadXen1", "org.numadxen.NumadXen1", "Commit", "su",
               guest.token, "0")
    tap.ok(late.returncode and ask("numad-xen", "commit", guest.token, "0").returncode == 1, "too late to commit", late.stderr)
    guest = Guest("back", 500, "--strict", "--nodes", "1")
    reserved("placed", {1: 501.0})
    run("numad-xen", "release", guest.token)
    reserved("released", {}, status())
    tap.equal(ask("numad-xen", "release", guest.token).returncode, 1, "released twice: exit status 1")


def step_claims():
    """Claims of domains that nobody placed are kept off what is promised, host-wide."""
    settle()
    spare = sum(row["free"] for row in nodes().values()) // MIB
    tool = DomTool()
    tool("create", HANDMADE[0])
    tool("claim", (spare - 1500) * MIB_PAGES)
    document = wait_for("the claim is shown", lambda: (d := fresh_status())["host"]["memory"]["claimed"] and d)
    near("a claim", document["host"]["memory"]["claimed"], (spare - 1500) * MIB, 1, "claimed")
    refused = ask("numad-xen", "place", "--vcpus", "1", "--memory", "1600M", "--type", "pv", "--strict", "--nodes", "2")
    tap.equal(refused.returncode, 3, "more than the claim leaves: NoFit, although the node has it")
    tap.note(refused.stderr)
    guest = Guest("beside", 1300, "--strict", "--nodes", "2").build()
    tap.equal(guest.pages(), {2: 1300 * MIB_PAGES}, "what the claim leaves can be promised, and built")
    guest.commit()
    tool("destroy")
    tool.close()


# -- the daemon ---------------------------------------------------------------

def pid():
    return int(run("systemctl", "show", "--value", "-p", "MainPID", UNIT))


def survives(step, guests, reserved_before):
    rows = {row["token"]: row for row in status()["reservations"]}
    tap.equal({token: (row["uuid"], promised(row), row["overhead"]) for token, row in rows.items()},
              {guest.token: (guest.uuid, guest.promised, guest.overhead) for guest in guests}, f"{step}: reservations are there")
    reserved(step, reserved_before)


def step_restart():
    settle()
    directory = os.stat(STATE)
    tap.equal((stat.S_IMODE(directory.st_mode), directory.st_uid), (0o700, 0), "the state directory is root's alone")
    guests = [Guest("first", 300, "--strict", "--nodes", "2"), Guest("second", 400, "--strict", "--nodes", "3")]
    done = Guest("done", 200, "--strict", "--nodes", "2").build().commit()
    set_aside = {2: 301.0, 3: 401.0}
    for step, command in (("restart", "restart"), ("stop", "stop")):
        run("systemctl", command, UNIT)
        run("systemctl", "start", UNIT)
        survives(step, guests, set_aside)
    before = pid()
    os.kill(before, signal.SIGKILL)
    wait_for("the service is back", lambda: pid() not in (0, before) and ask("numad-xen", "status").returncode == 0, 60)
    survives("kill -9", guests, set_aside)
    tap.equal(domain(done.domid)["placement"], {"token": done.token, "nodes": [2], "kept": True}, "kill -9: so is the placement")
    guests[0].build().commit()
    run("numad-xen", "release", guests[1].token)
    reserved("one committed, one released", {})
    tap.equal(guests[0].pages(), {2: 300 * MIB_PAGES}, "what was promised before is built after")


def step_unprivileged():
    settle()
    guest = Guest("mine", 100, "--strict", "--nodes", "1")
    request = ["--vcpus", "1", "--memory", "64M", "--type", "pv"]
    for what, command in (("place", ["place", *request]), ("commit", ["commit", guest.token, "0"]), ("release", ["release", guest.token])):
        refused = ask(*NOBODY, "numad-xen", *command)
        tap.equal((refused.returncode, refused.stdout), (5, ""), f"nobody may not {what}")
        tap.ok("numad-xen:" in refused.stderr, f"and {what} says so", refused.stderr)
    raw = ask(*NOBODY, "busctl", "call", "org.numadxen.NumadXen1", "/org/numadxen/NumadXen1", "org.numadxen.NumadXen1", "Place",
              "a{sv}", "2", "vcpus", "u", "1", "memory", "t", "67108864")
    tap.ok(raw.returncode and "ccess denied" in raw.stderr.replace("AccessDenied", "access denied"), "nor over the bus", raw.stderr)
    tap.equal([row["token"] for row in status()["reservations"]], [guest.token], "nothing came of it")
    tap.equal(ask(*NOBODY, "numad-xen", "place", "--dry-run", *request).returncode, 0, "anyone may ask what would be")
    tap.ok(ask(*NOBODY, "sh", "-c", f"ls {STATE}").returncode, "and nobody sees the state directory")
    run("numad-xen", "release", guest.token)


if __name__ == "__main__":
    main(steps_of(globals()))
