#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Another host's daemon over ssh: a real sshd, here at the same host's loopback, and a key made for it."""
import json
import os
import subprocess
import time

from host import run, wait_for
from tap import Tap

tap = Tap()
KEY = "/root/.ssh/id_ed25519"
HOST = "root@localhost"


def start_sshd():
    os.makedirs("/root/.ssh", 0o700, exist_ok=True)
    os.makedirs("/run/sshd", 0o755, exist_ok=True)
    run("ssh-keygen", "-A")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", KEY)
    with open(KEY + ".pub") as file, open("/root/.ssh/authorized_keys", "w") as keys:
        keys.write(file.read())
    server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-o", "ListenAddress=127.0.0.1"], stderr=subprocess.DEVNULL)
    known = wait_for("sshd answers", lambda: run("ssh-keyscan", "-t", "ed25519", "localhost", status=None), 60)
    with open("/root/.ssh/known_hosts", "w") as file:
        file.write(known)
    return server


def ask(*args):
    return subprocess.run(["numad-xen", *args], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def works():
    begin = time.monotonic()
    asked = ask("-H", HOST, "status", "--json")
    tap.note(f"status over ssh: {time.monotonic() - begin:.1f} s")
    tap.ok(asked.returncode == 0 and not asked.stderr, "status over ssh", f"{asked.returncode} {asked.stderr}")
    document = json.loads(asked.stdout or "{}")
    tap.ok(document.get("format") == "numad-xen-status/1" and len(document["nodes"]) == 4, "it is the host's", asked.stdout[:300])
    tap.equal(ask("topology", "-H", "localhost").stdout, run("numad-xen", "topology"), "topology over ssh is the daemon's")
    tap.equal(ask("doctor", "-H", HOST).returncode, 0, "doctor over ssh")


def fails():
    """Every refusal says which host and what to do, and leaves no ssh behind."""
    asked = ask("-H", "nobody@localhost", "status")
    tap.equal((asked.returncode, asked.stdout), (4, ""), "a login that is refused: exit status 4")
    last = asked.stderr.splitlines()[-1:]
    tap.ok(last and last[0].startswith("numad-xen: ") and "nobody@localhost" in last[0], "after ssh's own words it says whose",
           asked.stderr)
    tap.note(asked.stderr)
    asked = ask("-H", "-oProxyCommand=touch /tmp/ran", "status")
    tap.ok(asked.returncode == 2 and not os.path.exists("/tmp/ran"), "what ssh would take for an option is refused", asked.stderr)
    run("systemctl", "stop", "numad-xend")
    run("systemctl", "mask", "--runtime", "numad-xend")
    asked = ask("-H", HOST, "status")
    tap.ok(asked.returncode == 4 and "localhost" in asked.stderr, "no daemon there: exit status 4, and it says where", asked.stderr)
    tap.note(asked.stderr)
    run("systemctl", "unmask", "--runtime", "numad-xend")
    tap.equal(ask("-H", HOST, "status").returncode, 0, "a question over ssh starts the daemon there")


def main():
    run("systemctl", "start", "numad-xend")
    server = start_sshd()
    try:
        works()
        fails()
        asked = run("pgrep", "-c", "-x", "ssh", status=None).strip()
        tap.equal(asked, "0", "no ssh is left")
    finally:
        server.terminate()
        server.wait(30)
    asked = ask("-H", HOST, "status")
    tap.ok(asked.returncode == 4 and "localhost" in asked.stderr, "no sshd: exit status 4", asked.stderr)
    tap.done()


main()
