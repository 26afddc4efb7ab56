#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Captures: numad-xen gather, from the daemon and from a file, and what is shown of them elsewhere."""
import resource
import stat

from world import *  # noqa: F403
from fakedaemon import FakeDaemon, Refusal

NUMAD_XEN = str(os.environ.get("NUMAD_XEN") or BUILD / "numad-xen")
DENIED = "org.freedesktop.DBus.Error.AccessDenied"
HOSTS = sorted((SOURCE / "tests/golden/hosts").glob("*.json"))
SRAT = b"SRAT" + bytes([56, 0, 0, 0, 3, 0]) + b"MAKER1MAKERTABLE" + b"\1\0\0\0ASL \2\0\0\0" + bytes(20)


def cli(*arguments, **options):
    return subprocess.run([NUMAD_XEN, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def document(*arguments):
    out = cli(*arguments)
    assert out.returncode == 0, out
    return schema.check(out.stdout)


def lasting(status):
    """A status without what a capture does not bring back."""
    return {k: v for k, v in status.items() if k not in ("generation", "time", "stats", "reservations")}


def test_every_host(tap, world):
    """What the daemon tells of a host and what its capture tells is the same."""
    for path in HOSTS:
        daemon = world.daemon(world.host(path.read_bytes().decode(errors="surrogateescape")))
        folder = world.directory / f"capture of {path.stem}"
        out = cli("gather", folder, "--bus", world.address)
        tap.ok((out.returncode, out.stdout, out.stderr) == (0, f"{folder}/host.json\n", ""), f"{path.stem}: is captured", out)
        asked = document("status", "--json", "--bus", world.address)
        read = document("status", "--json", "--host", folder)
        tap.equal(lasting(read), lasting(asked), f"{path.stem}: the capture's status is the daemon's")
        tap.equal(document("topology", "--json", "--host", folder), document("topology", "--json", "--bus", world.address),
                  f"{path.stem}: the capture's topology is the daemon's")
        again = world.directory / f"again {path.stem}"
        cli("gather", again, "--host", folder)
        tap.ok((again / "host.json").read_bytes() == (folder / "host.json").read_bytes(),
               f"{path.stem}: the capture of the capture is the same")
        daemon.signal(signal.SIGTERM)
        daemon.wait()


def test_files(tap, world):
    host = world.host(four_nodes())
    folder = world.directory / "capture"
    old = os.umask(0)
    cli("gather", folder, "--host", host)
    os.umask(old)
    tap.equal([stat.S_IMODE(p.stat().st_mode) for p in (folder, folder / "host.json")], [0o700, 0o600],
              "folder and file are their owner's alone, whatever the umask")
    tap.equal([p.name for p in folder.iterdir()], ["host.json"], "and there is nothing else")
    tap.ok(cli("status", "--host", f"{folder}/").stdout == cli("status", "--host", host).stdout, "--host takes the folder")
    tap.ok(cli("doctor", "--host", folder).stdout == cli("doctor", "--host", host).stdout, "doctor, too")
    world.daemon(folder)
    with world.connect() as bus:
        tap.equal(len(status(bus)["nodes"]), 4, "numad-xend --host takes the folder")
    before = (folder / "host.json").read_bytes()
    out = cli("gather", folder, "--host", host)
    tap.equal((out.returncode, out.stdout, out.stderr),
              (1, "", f"numad-xen: {folder}/host.json: is there already: remove it, or give another folder\n"),
              "a capture is not replaced")
    tap.equal((folder / "host.json").read_bytes(), before, "and stays as it is")
    ours = world.directory / "ours"
    ours.mkdir(mode=0o755)
    tap.equal(cli("gather", ours, "--host", host).returncode, 0, "a folder that is there is used")
    tap.equal(stat.S_IMODE(ours.stat().st_mode), 0o755, "and stays as open as it is")
    tap.equal(stat.S_IMODE((ours / "host.json").stat().st_mode), 0o600, "the file is private there, too")


def test_links(tap, world):
    host = world.host(four_nodes())
    trap = world.directory / "trap"
    trap.mkdir()
    target = world.directory / "target"
    (trap / "host.json").symlink_to(target)
    out = cli("gather", trap, "--host", host)
    tap.ok(out.returncode == 1 and "is there already" in out.stderr, "nothing is written through a link", out)
    tap.ok(not target.exists() and [p.name for p in trap.iterdir()] == ["host.json"], "nor beside it")
    link = world.directory / "link"
    real = world.directory / "real"
    real.mkdir()
    link.symlink_to(real)
    for name in (link, f"{link}/", f"{link}//"):
        out = cli("gather", name, "--host", host)
        tap.equal((out.returncode, out.stderr), (1, f"numad-xen: {name}: not a folder, or a link to one: give the folder "
                                                 "itself\n"), f"nothing is written into a folder by a link ({str(name)[len(str(link)):]})")
    tap.equal(list(real.iterdir()), [], "and it stays empty")
    out = cli("gather", host, "--host", host)
    tap.ok(out.returncode == 1 and "not a folder" in out.stderr, "a file is no folder", out)
    out = cli("gather", world.directory / "a/b", "--host", host)
    tap.equal((out.returncode, out.stderr), (1, f"numad-xen: {world.directory}/a/b: No such file or directory\n"),
              "only one folder is made")


def test_unknown_vcpus(tap, world):
    """How many vCPUs a domain has: nobody knows, none, and two of which nothing else is known."""
    host = four_nodes()
    host["domains"] = [{"domid": 1, "vcpus": None}, {"domid": 2, "vcpus": []}, {"domid": 3, "vcpus": [None, None]}]
    folder = world.directory / "capture"
    file = world.host(host)
    cli("gather", folder, "--host", file)
    for source in (file, folder):
        domains = document("status", "--json", "--host", source)["domains"]
        tap.equal([(d["vcpus"], d["vcpu_affinity"]) for d in domains], [(None, None), (0, []), (2, None)],
                  f"{source.name}: null is not none")
        lines = cli("status", "--host", source).stdout.splitlines()
        start = next(i for i, line in enumerate(lines) if "VCPUS" in line)
        column = lines[start].split().index("VCPUS")
        tap.equal([line.split()[column] for line in lines[start + 1:start + 4]], ["-", "0", "2"], f"{source.name}: nor in the table")


def test_no_cpus(tap, world):
    """A host that names no CPU has none, not one that is offline."""
    folder = world.directory / "capture"
    file = world.host({"format": "numad-xen-host/1", "nodes": [{"size": 1 << 20, "free": 4096}]})
    cli("gather", folder, "--host", file)
    for source in (file, folder):
        tap.equal(document("topology", "--json", "--host", source)["cpus"], [], f"{source.name}: no CPU is made up")
        tap.ok("offline" not in cli("topology", "--host", source).stdout, f"{source.name}: nor in the table")
        tap.equal(document("status", "--json", "--host", source)["host"]["max_cpu_id"], 0, f"{source.name}: max_cpu_id is 0")


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_full_disk(tap, world):
    host = world.host(many_domains(500))
    folder = world.directory / "capture"
    out = cli("gather", folder, "--host", host, preexec_fn=small_files)
    tap.equal((out.returncode, out.stdout, out.stderr), (1, "", f"numad-xen: {folder}/host.json: File too large\n"),
              "what cannot be written whole is an error")
    tap.ok(not folder.exists(), "and leaves nothing, not the folder that was made for it")
    folder.mkdir()
    cli("gather", folder, "--host", host, preexec_fn=small_files)
    tap.equal(list(folder.iterdir()), [], "in a folder that was there, nothing: it stays")


def test_usage(tap, world):
    host = world.host(four_nodes())
    for arguments, error in (((), "no folder: give one, like 'numad-xen gather myhost'"),
                             (("a", "b"), "'b': one folder is enough"), (("",), "'': an empty name"),
                             (("--anonymise", "a"), "--anonymise: no such option")):
        out = cli("gather", *arguments, "--host", host, cwd=world.directory)
        tap.ok(out.returncode == 2 and f"numad-xen: gather: {error}\n" in out.stderr, f"gather {arguments}: usage", out)
    tap.ok(not (world.directory / "a").exists(), "and nothing is made")
    out = cli("gather", "a", "--host", world.directory, cwd=world.directory)
    tap.ok(out.returncode == 0, "--host and DIR may be folders", out)
    empty = world.directory / "empty"
    empty.mkdir()
    out = cli("status", "--host", empty)
    tap.ok(out.returncode == 1 and out.stderr.startswith(f"numad-xen: {empty}: No such file or directory: give --host"),
           "a folder without a capture is none", out)


def test_not_permitted(tap, world):
    world.daemon(world.host(four_nodes()))
    if os.geteuid() == 0:
        def gathers():
            with world.connect() as bus:
                return error_of(call, bus, "Gather")
        tap.equal(as_user(NOBODY, gathers), DENIED, "another user gets no capture")
    else:
        tap.skip("another user gets no capture", "needs root, to become another user")
    with world.connect() as bus:
        tap.equal(json.loads(call(bus, "Gather")[0])["format"], "numad-xen-host/1", "root does")


def test_fake(tap, world):
    """Answers that the daemon does not give."""
    folder = world.directory / "capture"
    good = json.dumps(four_nodes())
    policy = 'Rejected send message, 2 matched rules; type="method_call", sender=":1.7"'
    for answer, status, error in ((Refusal(DENIED, policy), 5, "not permitted by the bus policy: run this as root\n"),
                                  (Refusal(DENIED, "only root may capture the host"), 5, "not permitted: only root may "),
                                  (Refusal("org.freedesktop.DBus.Error.UnknownMethod", "no method"), 1, "another version"),
                                  (Refusal(NAME + ".Error.LimitReached", "4 captures are waiting"), 1, "4 captures"),
                                  (("s", ["{}"]), 1, "cannot be read again: format: must be"),
                                  (("s", [""]), 1, "cannot be read again: not JSON"),
                                  (("s", [good[:-1]]), 1, "cannot be read again: not JSON"),
                                  (("u", [1]), 1, "makes no sense")):
        with FakeDaemon(world.address, {"Gather": answer}):
            out = cli("gather", folder, "--bus", world.address)
        tap.ok(out.returncode == status and not out.stdout and error in out.stderr, f"{error}: is {status}", out)
    out = cli("gather", folder, "--bus", world.address)
    tap.ok(out.returncode == 4 and "is not running" in out.stderr, "no daemon is 4", out)
    tap.ok(not folder.exists(), "and no folder is made")
    with FakeDaemon(world.address, {"Gather": ("s", [good])}):
        tap.equal(cli("gather", folder, "--bus", world.address).returncode, 0, "a good one is written")
    tap.equal((folder / "host.json").read_text(), good + "\n", "as it came")


def nameless(status):
    """A status without names: domains by what they are."""
    return {**lasting(status), "domains": [{k: v for k, v in d.items() if k not in ("name", "uuid")}
                                           for d in status["domains"]]}


def test_anonymize(tap, world):
    import base64
    secret = "SECRET-web.example.org"
    host = four_nodes(srat=base64.b64encode(SRAT).decode(), slit=base64.b64encode(b"SLIT" + SRAT[4:]).decode())
    for domain in host["domains"][1:]:
        domain["name"] = secret
        domain["uuid"] = "5ec2e75e-c2e7-5ec2-e75e-c2e75ec2e75e"
    host["domains"].append({"domid": 8})
    file = world.host(host)
    world.daemon(file)
    status = document("status", "--json", "--host", file)
    for source in (("--host", file), ("--bus", world.address)):
        folder = world.directory / f"anonymous{source[0]}"
        out = cli("gather", "--anonymize", folder, *source)
        tap.equal((out.returncode, out.stderr), (0, ""), f"{source[0]}: is captured")
        text = (folder / "host.json").read_text()
        capture = schema.check(text)
        tables = b"".join(base64.b64decode(capture[k]) for k in ("srat", "slit"))
        tap.ok("SECRET" not in text and "5ec2e75e" not in text and b"MAKER" not in tables and b"ASL" not in tables,
               f"{source[0]}: no name is left")
        tap.equal([d["name"] for d in capture["domains"]], ["Domain-0", "domain-1", "domain-7", None],
                  f"{source[0]}: domains have made-up names, one without a name has none")
        uuids = [d["uuid"] for d in capture["domains"]]
        tap.ok(uuids[0] is None and uuids[1] and uuids[2] and uuids[1] != uuids[2] and uuids[3] is None,
               f"{source[0]}: and UUIDs", uuids)
        tap.equal(sum(tables[:56]) % 256, sum(SRAT) % 256, f"{source[0]}: the table's sum is what it was")
        tap.equal(nameless(document("status", "--json", "--host", folder)), nameless(status),
                  f"{source[0]}: nothing else has changed")


run_tests(test_every_host, test_unknown_vcpus, test_no_cpus, test_files, test_links, test_full_disk, test_usage, test_not_permitted, test_fake,
          test_anonymize)
