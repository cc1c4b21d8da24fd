"""`proxmox-backup-manager`: a backup server by hand."""

import os
import subprocess

import command
import jsonish
import options
import pbs_access
import pbs_care
import pbs_store
import pbs_task
import spool
import storage
import table
from command import out
from failure import Fail
from options import BOOL, INT, TEXT

SHAPE = {"output-format": TEXT}
STORE = {**SHAPE, "comment": TEXT, "gc-schedule": TEXT, "prune-schedule": TEXT, "keep-last": INT, "notify-user": TEXT, "notification-mode": TEXT,
         "reuse-datastore": BOOL, "destroy-data": BOOL, "keep-job-configs": BOOL, "verify-new": BOOL, "tuning": TEXT}


def show(found, given):
    form = given.get("output-format", "text")
    if form == "json":
        out(jsonish.tight(found))
    elif form == "json-pretty":
        out(jsonish.pretty(found))
    elif found != []:
        for line in table.lines(found, False, False):
            out(line)


def sections():
    return storage.parse(spool.read(pbs_store.CONFIG))


def create(words, found):
    name, path = words
    if any(known == name for _, known, _ in sections()):
        raise Fail(f"Error: parameter verification failed - 'name': datastore '{name}' already exists.")

    def work(say):
        store = pbs_store.Datastore(name, path)
        if not (found.get("reuse-datastore") and os.path.isdir(f"{path}/.chunks")):
            os.makedirs(path, exist_ok=True)
            store.create(pbs_store.folders(), lambda percent: say(f"Chunkstore create: {percent}%"))
        more = {key: value for key, value in found.items() if key in ("comment", "gc-schedule", "notification-mode")}
        spool.write(pbs_store.CONFIG, storage.text_of(sections() + [("datastore", name, {**more, "path": path})]))
    return pbs_task.Task("create-datastore", name).run(work)


def remove(words, found):
    name = words[0]
    store = pbs_store.named(name)

    def work(say):
        if found.get("destroy-data"):
            say("Deleting datastore data...")
            for entry in (".chunks", "vm", "ct", "host"):
                subprocess.run(["rm", "-rf", f"{store.path}/{entry}"], check=True)
        say("Removing datastore from config...")
        spool.write(pbs_store.CONFIG, storage.text_of([section for section in sections() if section[1] != name]))
        if not found.get("keep-job-configs"):
            pbs_access.deny(f"/datastore/{name}")
        if found.get("destroy-data"):
            say("Finished deleting data.")
            os.unlink(f"{store.path}/.lock")
            if not os.listdir(store.path):
                os.rmdir(store.path)
                say("Removed empty datastore directory.")
    return pbs_task.Task("delete-datastore", name).run(work)


def datastore(arguments):
    usage = "proxmox-backup-manager datastore <COMMAND> [ARGS] [OPTIONS]"
    words, found = options.parse(arguments[1:], STORE, usage)
    verb = arguments[0] if arguments else ""
    if verb == "list":
        show([{"name": name, **values} for _, name, values in sections()], found)
        return 0
    if verb == "create" and len(words) == 2:
        return create(words, found)
    if verb == "remove" and len(words) == 1:
        return remove(words, found)
    if verb == "show" and len(words) == 1:
        store = pbs_store.named(words[0])
        show(next({"name": name, **values} for _, name, values in sections() if name == store.name), found)
        return 0
    raise Fail(f"Error: no such command '{verb}'\n\nUsage: {usage}")


def collect(arguments):
    words, found = options.parse(arguments[1:], SHAPE, "proxmox-backup-manager garbage-collection <COMMAND> <store>")
    store = pbs_store.named(words[0])
    if arguments[0] == "status":
        show(pbs_care.last_collection(store), found)
        return 0
    task = pbs_task.Task("garbage_collection", store.name)
    return task.run(lambda say: pbs_care.collect(store, task, say))


def verify(arguments):
    words, found = options.parse(arguments, {**SHAPE, "ignore-verified": BOOL, "outdated-after": INT, "backup-type": TEXT, "backup-id": TEXT},
                                 "proxmox-backup-manager verify <store> [OPTIONS]")
    store = pbs_store.named(words[0])
    task = pbs_task.Task("verify", store.name)
    return task.run(lambda say: pbs_care.verify(store, task, say, found.get("ignore-verified", True)))


def users(arguments):
    words, found = options.parse(arguments[1:], {**SHAPE, "password": TEXT, "comment": TEXT, "email": TEXT}, "proxmox-backup-manager user <COMMAND>")
    if arguments[0] == "create":
        pbs_access.add_user(words[0], found.get("password", ""))
    elif arguments[0] == "remove":
        pbs_access.remove_user(words[0])
    elif arguments[0] == "list":
        show([{"userid": name, "enable": True} for name in sorted(pbs_access.secrets())], found)
    elif arguments[0] == "generate-token":
        name, secret = f"{words[0]}!{words[1]}", os.urandom(18).hex()
        pbs_access.add_user(name, secret)
        out("Result: " + jsonish.pretty({"tokenid": name, "value": secret}).replace(" : ", ": ").replace("   ", "  "))
    elif arguments[0] == "delete-token":
        pbs_access.remove_user(f"{words[0]}!{words[1]}")
    elif arguments[0] == "list-tokens":
        show([{"enable": True, "expire": 0, "token-name": name.split("!")[1], "tokenid": name} for name in sorted(pbs_access.secrets()) if name.startswith(f"{words[0]}!")], found)
    return 0


def rights(arguments):
    words, found = options.parse(arguments[1:], {**SHAPE, "auth-id": TEXT, "delete": BOOL, "propagate": BOOL}, "proxmox-backup-manager acl <COMMAND>")
    if arguments[0] == "list":
        show([{"path": line[2], "propagate": True, "roleid": line[4], "ugid": line[3], "ugid_type": "user"} for line in pbs_access.rights()], found)
    elif found.get("delete"):
        pbs_access.deny(words[0], found["auth-id"])
    else:
        pbs_access.allow(words[0], found["auth-id"], words[1])
    return 0


def certificate(_arguments):
    name = os.uname().nodename
    subject = f"O = Proxmox Backup Server, OU = 00000000-0000-0000-0000-000000000000, CN = {name}"
    for line in (f"Subject: {subject}", "    IP:[127, 0, 0, 1]", "    DNS:localhost", f"    DNS:{name}", f"Issuer: {subject}", "Validity:",
                 "    Not Before: Nov 30 21:26:03 2026 GMT", "    Not After : Apr  2 21:26:03 3026 GMT",
                 f"Fingerprint (sha256): {pbs_access.fingerprint()}", "Public key type: rsaEncryption", "Public key bits: 4096"):
        out(line)
    return 0


def tasks(arguments):
    _, found = options.parse(arguments[1:], {**SHAPE, "limit": INT, "all": BOOL}, "proxmox-backup-manager task list")
    show(pbs_task.archive(found.get("limit", 50)) if found.get("all") else [], found)
    return 0


def versions(arguments):
    _, found = options.parse(arguments, {**SHAPE, "verbose": BOOL}, "proxmox-backup-manager versions")
    if "output-format" in found:
        show([{"Package": "proxmox-backup-server", "Version": "3.4.1-1", "ExtraInfo": "running version: 3.4.1"}], found)
    else:
        out("proxmox-backup-server 3.4.1-1 running version: 3.4.1")
    return 0


COMMANDS = {"datastore": datastore, "garbage-collection": collect, "verify": verify, "user": users, "acl": rights, "cert": certificate, "task": tasks, "versions": versions}


def run(arguments):
    if not arguments or arguments[0] not in COMMANDS:
        raise Fail("Error: no command specified.\nPossible commands: " + ", ".join(sorted(COMMANDS)))
    return COMMANDS[arguments[0]](arguments[1:])


def main():
    command.run(run)
