# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the suites of placement share: domains that numad-xen places and stock xl builds from the lines it prints."""
import subprocess
import sys
import time
import uuid

from host import MIB_PAGES, create, destroy_all, fresh_status, key, run, status, wait_for, walk
from tap import Tap

tap = Tap()
MIB = 1 << 20
UNIT = "numad-xend.service"


def ask(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def reservation(uuid_or_token):
    for row in status()["reservations"]:
        if uuid_or_token in (row["uuid"], row["token"]):
            return row
    return None


def promised(row):
    return {part["node"]: part["bytes"] // MIB for part in row["memory"]}


def nodes(document=None):
    return {row["node"]: row["memory"] for row in (document or fresh_status())["nodes"]}


def domain(domid, document=None):
    return next((row for row in (document or fresh_status())["domains"] if row["domid"] == domid), None)


def scrubbed():
    """Waits for it: Xen takes clean memory of any node before it takes dirty memory of the one that is asked for."""
    wait_for("memory is scrubbed", lambda: not [line for line in key("H") if "unscrubbed" in line], 120)


def settle():
    """Nobody but dom0, and no memory that waits to be scrubbed."""
    destroy_all()
    scrubbed()
    return fresh_status()


class Guest:
    """A domain that numad-xen places. Raises Failed when it is refused."""

    def __init__(self, name, memory, *options, vcpus=1, kind="pv", given=None):
        self.name, self.memory, self.vcpus, self.kind = name, memory, vcpus, kind
        self.uuid, self.domid = given or str(uuid.uuid4()), None
        self.lines = run("numad-xen", "place", "--name", name, "--uuid", self.uuid, "--vcpus", str(vcpus), "--type", kind,
                         "--memory", f"{memory}M", "--format", "xl", *options).splitlines()
        row = reservation(self.uuid)
        self.token, self.promised, self.overhead = row["token"], promised(row), row["overhead"]

    def build(self):
        self.domid = create(self.name, self.memory, self.kind, vcpus=self.vcpus, extra=self.lines)
        return self

    def commit(self):
        run("numad-xen", "commit", self.token, str(self.domid))
        return self

    def pages(self):
        return walk()[self.domid]["nodes"]


def reserved(step, wanted, document=None):
    """Whether exactly this is set aside, in MiB by node."""
    shown = {node: row["reserved"] / MIB for node, row in nodes(document).items() if row["reserved"]}
    tap.equal(shown, wanted, f"{step}: reserved")


def near(step, got, wanted, slack=1, what="available"):
    """What Xen takes for itself beside is not foreseen to the page."""
    tap.ok(abs(got - wanted) <= slack * MIB, f"{step}: {what} is {wanted / MIB:.1f} MiB", f"{got / MIB:.2f} MiB")


def held_as_promised(guest, walked, slack):
    """Pages by node against the promise, to `slack` MiB."""
    held = {node: pages / MIB_PAGES for node, pages in walked[guest.domid]["nodes"].items()}
    off = [abs(held.get(node, 0) - guest.promised.get(node, 0)) for node in held.keys() | guest.promised.keys()]
    tap.ok(max(off) <= slack, f"{guest.name}: {guest.promised} MiB by node, as promised", held)


def main(steps):
    """Runs the steps named on the command line, or those of a patched hypervisor, each on a host that is empty again."""
    unknown = set(sys.argv[1:]) - set(steps)
    tap.ok(not unknown, "all steps named exist", unknown)
    run("systemctl", "start", UNIT)
    for name in [name for name in sys.argv[1:] if name in steps] or [name for name in steps if name != "stock"]:
        begin = time.monotonic()
        try:
            steps[name]()
        except Exception as failure:
            tap.ok(False, f"step {name} runs to its end", repr(failure))
        for row in status()["reservations"]:
            run("numad-xen", "release", row["token"], status=None)
        destroy_all()
        tap.note(f"step {name}: {time.monotonic() - begin:.0f} s")
    tap.note(run("journalctl", "-b", "-q", "-p", "err", "_COMM=numad-xend", "--no-pager"))
    tap.done()


def steps_of(module):
    return {name[5:]: function for name, function in module.items() if name.startswith("step_")}
