"""`proxmox-backup-debug`: the interface of the backup server on this machine, as root."""

import command
import options
import pbs_care
import pbs_store
import pbs_task
import time
from failure import Fail
from options import BOOL, INT, TEXT

USAGE = "proxmox-backup-debug api create <api-path> [OPTIONS]"


def run(arguments):
    if arguments[:2] != ["api", "create"]:
        raise Fail(f"Error: no such command\n\nUsage: {USAGE}")
    words, found = options.parse(arguments[2:], {"output-format": TEXT, "ns": TEXT, "backup-type": TEXT, "backup-id": TEXT, "backup-time": INT,
                                                 "ignore-verified": BOOL, "outdated-after": INT}, USAGE)
    parts = words[0].strip("/").split("/")
    if len(parts) != 4 or parts[:2] != ["admin", "datastore"] or parts[3] != "verify":
        raise Fail(f"Error: Path '{words[0]}' not found.")
    store, skip = pbs_store.named(parts[2]), found.get("ignore-verified", True)
    if "backup-type" not in found:
        task = pbs_task.Task("verify", store.name)
        return task.run(lambda say: pbs_care.verify(store, task, say, skip))
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found["backup-time"]))
    snapshot = f"{found['backup-type']}/{found['backup-id']}/{at}"
    task = pbs_task.Task("verify_snapshot", f"{store.name}:{found['backup-type']}/{found['backup-id']}/{found['backup-time']:08X}")
    return task.run(lambda say: pbs_care.verify_one(store, task, say, snapshot, skip))


def main():
    command.run(run)
