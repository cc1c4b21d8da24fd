"""`proxmox-backup-client`: what a store of a backup server holds, seen by one of its users."""

import os
import re

import command
import jsonish
import options
import pbs_access
import pbs_store
import table
import units
from command import out
from failure import Fail
from options import BOOL, INT, TEXT

SCHEMA = {"output-format": TEXT, "repository": TEXT, "ns": TEXT, "dry-run": BOOL, "keep-last": INT, "limit": INT, "all": BOOL, "crypt-mode": TEXT, "quiet": BOOL}


def repository(found):
    """The store, and who asks; what is wrong with either is said here."""
    text = found.get("repository") or os.environ.get("PBS_REPOSITORY")
    if not text:
        raise Fail("Error: unable to get (default) repository")
    match = re.fullmatch(r"(?:(?P<user>[^@:]+@[^@:!]+(?:![^@:]+)?)@)?(?:(?P<host>\[[0-9a-f:]+\]|[^:@\[\]]+):)?(?P<store>[\w-]+)", text)
    if not match:
        raise Fail(f"Error: unable to parse repository url '{text}'")
    expected = os.environ.get("PBS_FINGERPRINT")
    if expected and expected.lower() != pbs_access.fingerprint():
        raise Fail(
            f"WARNING: certificate fingerprint does not match expected fingerprint!\nexpected:    {expected}\n"
            "certificate validation failed - Certificate fingerprint was not confirmed.\n"
            "Error: error trying to connect: error:0A000086:SSL routines:tls_post_process_server_certificate:certificate verify failed:"
            "../ssl/statem/statem_clnt.c:1889:")
    user = match["user"] or "root@pam"
    pbs_access.log_in(user, os.environ.get("PBS_PASSWORD"))
    store = pbs_store.named(match["store"])
    if not pbs_access.may(user, store.name):
        raise Fail("Error: permission check failed.")
    return store, user


def show(found, given, text):
    form = given.get("output-format") or os.environ.get("PROXMOX_OUTPUT_FORMAT", "text")
    if form == "json":
        out(jsonish.tight(found))
    elif form == "json-pretty":
        out(jsonish.pretty(found))
    else:
        for line in text():
            out(line)


def framed(head, rows):
    no_border = os.environ.get("PROXMOX_OUTPUT_NO_BORDER") == "1"
    no_header = os.environ.get("PROXMOX_OUTPUT_NO_HEADER") == "1"
    items = [dict(zip(head, row)) for row in rows]
    if not items:
        return []
    rows = [head] + [[str(item[key]) for key in head] for item in items]
    rows = rows[1:] if no_header else rows
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    if no_border:
        return [" ".join(f"{text:<{width}}" for text, width in zip(row, widths)) for row in rows]
    return table.framed(rows, widths, no_header)


def snapshots(arguments, found):
    store, _ = repository(found)
    verb = arguments[0] if arguments else ""
    if verb == "list":
        entries = [store.entry(name) for name in store.snapshots(arguments[1] if len(arguments) > 1 else None)]
        entries.sort(key=lambda entry: -entry["backup-time"])

        def text():
            from pbs_sizes import human
            rows = []
            for entry in entries[::-1]:
                name = f"{entry['backup-type']}/{entry['backup-id']}/{units.utc(entry['backup-time'])}"
                files = " ".join(sorted(re.sub(r"\.(blob|fidx|didx)$", "", file["filename"]) for file in entry["files"]))
                rows.append([name, human(entry["size"]) if "size" in entry else "", files])
            return framed(["snapshot", "size", "files"], rows)
        show(entries, found, text)
    elif verb == "files" and len(arguments) > 1:
        if not os.path.isdir(store.folder(arguments[1])):
            raise Fail(f"Error: snapshot {arguments[1]} does not exist.")
        entry = store.entry(arguments[1])
        show(entry["files"], found, lambda: framed(["filename", "size"], [[file["filename"], file.get("size", "")] for file in entry["files"]]))
    elif verb == "forget" and len(arguments) > 1:
        store.forget(arguments[1])
    elif verb == "notes" and len(arguments) > 2:
        notes(store, arguments, found)
    else:
        raise Fail(f"Error: no such command '{verb}'")


def notes(store, arguments, found):
    manifest = store.manifest(arguments[2])
    if arguments[1] == "update":
        manifest.setdefault("unprotected", {})["notes"] = arguments[3]
        store.write_manifest(arguments[2], manifest)
    else:
        text = manifest.get("unprotected", {}).get("notes", "")
        show({"notes": text}, found, lambda: [text])


def groups(_arguments, found):
    store, _ = repository(found)
    entries = []
    for group in store.groups():
        names = store.snapshots(group)
        if not names:
            continue
        last = store.entry(names[-1])
        kind, ident = group.split("/")
        entries.append({"backup-type": kind, "backup-id": ident, "backup-count": len(names), "last-backup": last["backup-time"],
                        "owner": last["owner"], "files": [file["filename"] for file in last["files"]]})
    show(entries, found, lambda: framed(["group", "last snapshot", "count", "files"], [
        [f"{entry['backup-type']}/{entry['backup-id']}", units.utc(entry["last-backup"]), entry["backup-count"], " ".join(entry["files"])] for entry in entries]))


def status(_arguments, found):
    store, _ = repository(found)
    sizes = store.status()
    shares = {key: f"({sizes[key] * 100 // (sizes['total'] or 1)} %)" for key in ("total", "used", "avail")}
    cells = {key: f"{sizes[key]} {share:>8}" for key, share in shares.items()}
    width = max(map(len, cells.values()))
    show(sizes, found, lambda: table.framed([[key, f"{cell:>{width}}"] for key, cell in cells.items()], [5, width], True))


def prune(arguments, found):
    store, _ = repository(found)
    names = store.snapshots(arguments[0])[::-1]
    keep = found.get("keep-last", len(names))
    entries = []
    for at, name in enumerate(names):
        entry = store.entry(name)
        kept = at < keep or entry["protected"]
        entries.append({key: entry[key] for key in ("backup-type", "backup-id", "backup-time", "protected")} | {"keep": kept})
        if not kept and not found.get("dry-run"):
            store.forget(name)
    show(entries, found, lambda: framed(["snapshot", "keep"], [[units.utc(entry["backup-time"]), entry["keep"]] for entry in entries]))


def restore(arguments, found):
    """One file of a snapshot."""
    store, _ = repository(found)
    name, file, target = arguments[:3]
    if not os.path.isdir(store.folder(name)):
        raise Fail(f"Error: snapshot {name} does not exist.")
    for ending in ("", ".blob"):
        if os.path.exists(f"{store.folder(name)}/{file}{ending}") and (ending or file.endswith(".blob")):
            data = store.read_blob(name, file + ending)
            write(target, [data])
            return
    index = next((known for known in store.indexes(name) if known in (file, f"{file}.fidx", f"{file}.didx")), None)
    if index is None:
        raise Fail(f"Error: manifest does not contain file '{file}'")
    size, digests = store.read_index(name, index)

    def pieces():
        left = size
        for digest in digests:
            data = store.chunk(digest)[:left]
            left -= len(data)
            yield data
    write(target, pieces())


def write(target, pieces):
    file = 1 if target == "-" else os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for data in pieces:
        while data:
            data = data[os.write(file, data):]


def tasks(_arguments, found):
    import pbs_task
    _, user = repository(found)
    mine = [task for task in pbs_task.archive(1000) if task["user"] == user]
    show(mine[:found.get("limit", 50)], found, lambda: [])


def version(_arguments, found):
    told = {"client": {"version": "3.4.1", "release": "1"}}
    # The server is asked where one is named.
    if "PBS_REPOSITORY" in os.environ or "repository" in found:
        told["server"] = {"version": "3.4", "release": "1"}
    show(told, found, lambda: [f"{who} version: {what['version']}" + (f".{what['release']}" if who == "server" else "") for who, what in told.items()])


def log_in(_arguments, found):
    repository(found)


COMMANDS = {"snapshot": snapshots, "snapshots": lambda words, found: snapshots(["list", *words], found), "list": groups, "status": status,
            "prune": prune, "restore": restore, "task": tasks, "version": version, "login": log_in}


def run(arguments):
    words, found = options.parse(arguments, SCHEMA, "proxmox-backup-client <COMMAND> [ARGS] [OPTIONS]")
    if not words or words[0] not in COMMANDS:
        raise Fail("Error: no command specified.\nPossible commands: " + ", ".join(sorted(COMMANDS)))
    return COMMANDS[words[0]](words[1:], found)


def main():
    command.run(run)
