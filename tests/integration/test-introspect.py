#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The description in proto/ is the contract: daemon and program must say the same."""
import xml.etree.ElementTree as ElementTree

from world import *  # noqa: F403


def normal(text):
    """The project's interface without order, white space, comments and what is implied."""
    root = ElementTree.fromstring(text)
    interface = root.find(f"interface[@name='{INTERFACE}']")
    return None if interface is None else sorted(map(member, interface))


def member(element):
    arguments = [(a.get("type"), a.get("name"), a.get("direction") or implied(element)) for a in element.findall("arg")]
    annotations = sorted((a.get("name"), a.get("value")) for a in element.findall("annotation"))
    return (element.tag, element.get("name"), element.get("type") or "", element.get("access") or "", arguments,
            annotations)


def implied(element):
    return "out" if element.tag == "signal" else "in"


def test_introspection(tap, world):
    wanted = normal((SOURCE / "proto/org.numadxen.NumadXen1.xml").read_text())
    tap.ok(wanted and len(wanted) >= 11, "the description has the interface", wanted)
    printed = subprocess.run([NUMAD_XEND, "--bus-introspect"], capture_output=True, text=True, check=True).stdout
    tap.equal(normal(printed), wanted, "--bus-introspect agrees with proto/")
    world.daemon(world.host(four_nodes()))
    with world.connect() as bus:
        xml, = bus.call(NAME, PATH, "org.freedesktop.DBus.Introspectable", "Introspect")
        tap.equal(normal(xml), wanted, "the running daemon agrees with proto/")
        told = {p[1] for p in wanted if p[0] == "property"}
        tap.equal(set(bus.call(NAME, PATH, PROPERTIES, "GetAll", "s", [INTERFACE])[0]), told, "GetAll tells these")
        for _, name, kind, *_ in (p for p in wanted if p[0] == "property"):
            tap.ok(get(bus, name) is not None, f"property {name} ({kind}) can be read")


def test_policy(tap, world):
    """Who may call what is written a second time in the policy: each method that reads is open there, and no other."""
    methods = {m[1] for m in normal((SOURCE / "proto/org.numadxen.NumadXen1.xml").read_text()) if m[0] == "method"}
    policy = ElementTree.fromstring((SOURCE / "systemd/org.numadxen.NumadXen1.conf").read_text())
    rules = [rule for block in policy for rule in block]
    open_to_all = {rule.get("send_member") for rule in policy.find("policy[@context='default']").findall("allow")
                   if rule.get("send_interface") == INTERFACE}
    tap.equal(open_to_all, methods - {"Gather"}, "the policy opens exactly the methods that are not root's")
    tap.ok(all(rule.get("send_destination") == NAME or rule.get("own") == NAME for rule in rules),
           "every rule is about this destination alone")
    owners = [block.get("user") for block in policy for rule in block if rule.tag == "allow" and rule.get("own")]
    tap.equal(owners, ["root"], "root alone may own the name")


run_tests(test_introspection, test_policy)
