"""`pvesm`: the node's storages by hand."""

import sys

import command
import inventory
import options
import storage
import worker
from command import out
from failure import Fail
from options import BOOL, INT, SECRET, TEXT
from worker import say


def rows(table, shapes):
    """Columns as wide as they have to be: `<` to the left, `>` to the right."""
    widths = [max(len(row[at]) for row in table) for at in range(len(shapes))]
    for row in table:
        out(" ".join(f"{text:{shape}{width}}" for text, shape, width in zip(row, shapes, widths)))


def status(arguments):
    usage = "pvesm status  [OPTIONS]"
    _, found = options.parse(arguments, {"storage": TEXT, "content": TEXT, "enabled": BOOL, "target": TEXT}, usage)
    entries = inventory.storages(found.get("content"))
    name = found.get("storage")
    if name:
        entries = [entry for entry in entries if entry["storage"] == name]
        if not entries:
            raise options.refused("storage", "No such storage.", usage, 255)
    wide = max([len(entry["storage"]) for entry in entries] + [10])
    out(f"{'Name':<{wide}} {'Type':>7} {'Status':>10} {'Total':>15} {'Used':>15} {'Available':>15} {'%':>8}")
    for entry in sorted(entries, key=lambda entry: entry["storage"]):
        if "error" in entry:
            worker.complain(entry["error"])
        state = "active" if entry["active"] else "inactive" if entry["enabled"] else "disabled"
        share = f"{entry['used'] * 100 / entry['total'] if entry['total'] else 0:.2f}%" if entry["enabled"] else "N/A"
        sizes = [str(entry[key] >> 10) if entry["enabled"] else "N/A" for key in ("total", "used", "avail")]
        out(f"{entry['storage']:<{wide}} {entry['type']:>7} {state:>10} {sizes[0]:>15} {sizes[1]:>15} {sizes[2]:>15} {share:>8}")


def listing(arguments):
    usage = "pvesm list <storage> [OPTIONS]"
    words, found = options.parse(arguments, {"vmid": INT, "content": TEXT}, usage)
    if not words:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    owner = storage.named(words[0])
    owner.activate()
    entries = inventory.content(owner, found.get("content"), found.get("vmid"))
    table = [["Volid", "Format", "Type", "Size", "VMID"]]
    table += [[entry["volid"], entry["format"], entry["content"], str(entry["size"]), str(entry.get("vmid", ""))] for entry in entries]
    rows(table, ("<", "<", "<", ">", "<"))


def path(arguments):
    out(storage.path_of(arguments[0]))


def free_task(volid):
    owner, volume = storage.split(volid)
    kind = volume.partition("/")[0]
    parts = volume.replace("/", "-").split("-")
    number = next((part for part in parts if part.isdigit() and len(part) >= 3), "")

    def work():
        if owner.kind != "pbs" and not owner.exists(volume):
            raise Fail(f"volume '{volid}' does not exist")
        owner.free(volume)
        say(f"Removed volume '{volid}'")
    return worker.run("imgdel", f"{number}@{owner.name}" if kind else owner.name, work)


def free(arguments):
    usage = "pvesm free <volume> [OPTIONS]"
    words, _ = options.parse(arguments, {"storage": TEXT, "delay": INT}, usage)
    if not words:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    return 255 if free_task(words[0]).error is not None else 0


PROPERTIES = {
    name: TEXT for name in (
        "path", "content", "server", "datastore", "username", "fingerprint", "vgname", "thinpool", "pool", "nodes",
        "is_mountpoint", "prune-backups", "shared", "disable", "port", "namespace", "encryption-key", "sparse", "mkdir", "preallocation", "delete")
}
PROPERTIES["password"] = SECRET


def secret_of(found):
    """As it was given, or the first line of standard input."""
    secret = found.pop("password", None)
    if secret == "":
        secret = sys.stdin.readline()
        if not secret:
            raise Fail("EOF while reading password", 255)
    return secret and secret.rstrip("\n")


def add(arguments):
    usage = "pvesm add <type> <storage> [OPTIONS]"
    words, found = options.parse(arguments, PROPERTIES, usage)
    if len(words) < 2:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    kind, name = words
    if kind not in storage.KINDS:
        raise options.refused("type", f"value '{kind}' does not have a value in the enumeration '{', '.join(sorted(storage.KINDS))}'", usage, 255)
    secret = secret_of(found)

    def edit(sections):
        if any(known == name for _, known, _ in sections):
            raise Fail(f"create storage failed: storage ID '{name}' already defined")
        sections.append((kind, name, dict(found)))
    storage.change(edit)
    if secret is not None:
        keep_secret(name, secret)
    try:
        storage.named(name).activate()
    except Fail as failure:
        forget(name)
        raise Fail(f"create storage failed: {failure.text}") from None


def keep_secret(name, secret):
    import spool
    spool.write(f"/etc/pve/priv/storage/{name}.pw", f"{secret}\n", 0o600)


def change(arguments):
    usage = "pvesm set <storage> [OPTIONS]"
    words, found = options.parse(arguments, PROPERTIES, usage)
    secret = secret_of(found)
    gone = [word for word in found.pop("delete", "").split(",") if word]

    def edit(sections):
        for _, name, values in sections:
            if name == words[0]:
                values.update(found)
                for key in gone:
                    values.pop(key, None)
                return
        raise Fail(f"storage '{words[0]}' does not exist", 2)
    storage.change(edit)
    if secret is not None:
        keep_secret(words[0], secret)


def forget(name):
    import os

    def edit(sections):
        left = [section for section in sections if section[1] != name]
        if len(left) == len(sections):
            raise Fail(f"delete storage failed: storage '{name}' does not exist")
        sections[:] = left
    storage.change(edit)
    secret = f"/etc/pve/priv/storage/{name}.pw"
    if os.path.exists(secret):
        os.unlink(secret)


def remove(arguments):
    forget(arguments[0])


def allocate(arguments):
    import units
    usage = "pvesm alloc <storage> <vmid> <filename> <size> [OPTIONS]"
    words, _ = options.parse(arguments, {"format": TEXT}, usage)
    owner = storage.named(words[0])
    size = units.parse_disk(words[3]) if words[3][-1] in "MGT" else int(words[3]) << 10
    volume = owner.allocate(int(words[1]), size, "disk", out)
    out(f"successfully created '{owner.name}:{volume}'")


def prune(arguments):
    usage = "pvesm prune-backups <storage> [OPTIONS]"
    words, found = options.parse(arguments, {"keep-last": INT, "dry-run": BOOL, "vmid": INT, "type": TEXT}, usage)
    owner = storage.named(words[0])
    table = [["Backup", "Backup-ID", "Prune-Mark"]]
    kept = {}
    for backup in sorted(owner.backups(), key=lambda backup: -backup["ctime"]):
        ident = f"{backup['subtype']}/{backup['vmid']}"
        if found.get("vmid") not in (None, backup["vmid"]):
            continue
        if backup.get("protected"):
            mark = "protected"
        else:
            kept[ident] = kept.get(ident, 0) + 1
            mark = "keep" if kept[ident] <= found.get("keep-last", 1 << 30) else "remove"
        table.insert(1, [backup["volid"], ident, mark])
    if found.get("dry-run"):
        out("NOTE: this is only a preview and might not be what a subsequent\nprune call does if backups are removed/added in the meantime.\n")
        rows(table, ("<", ">", ">"))
        return
    for volid, _, mark in table[1:]:
        if mark == "remove":
            owner.free(volid.partition(":")[2])


COMMANDS = {"status": status, "list": listing, "path": path, "free": free, "add": add, "set": change, "remove": remove, "alloc": allocate, "prune-backups": prune}


def run(arguments):
    if not arguments or arguments[0] not in COMMANDS:
        raise Fail("ERROR: no command specified\nUSAGE: pvesm <COMMAND> [ARGS] [OPTIONS]", 255)
    return COMMANDS[arguments[0]](arguments[1:])


def main():
    command.run(run)
