"""A guest from a backup server: a disk after the other, each with its own percents."""

import os
import subprocess

import qm_destroy
from failure import Fail, Interrupted
from worker import say


def run(restore):
    owner = restore.owner
    snapshot = restore.volume.removeprefix("backup/")
    store = owner.store()
    folder = f"/var/tmp/vzdumptmp{os.getpid()}"
    if not os.path.isdir(store.folder(snapshot)):
        missing = f"Error: snapshot {snapshot} does not exist."
        say(f"Could not extract backed up config: proxmox-backup-client failed: {missing}\n\nSkipping early checks!\n{missing}")
        call = f"/usr/bin/proxmox-backup-client restore '--crypt-mode=none' {snapshot} index.json {folder}/index.json --repository {owner.repository()}"
        raise Fail(f"command '{call}' failed: exit code 255")
    kept = store.read_blob(snapshot, "qemu-server.conf.blob").decode()
    maps = restore.read_config(kept)
    restore.check_targets(maps)
    if restore.before is not None:
        qm_destroy.remove_disks(restore.before, False)
    restore.stand_in("128")
    calls = []
    for archive in store.indexes(snapshot):
        slot = archive.removeprefix("drive-").removesuffix(".img.fidx")
        size = store.read_index(snapshot, archive)[0]
        target = restore.target(maps.get(slot))
        volume = restore.allocate(target, slot, size)
        calls.append(["/usr/bin/pbs-restore", "--repository", owner.repository(), snapshot, archive, target.path(volume), "--verbose",
                      "--format", "raw", "--skip-zero"])
    for call in calls:
        text = " ".join(call)
        say(f"restore proxmox backup image: {text}")
        process = subprocess.Popen(call, stdin=subprocess.DEVNULL, env=owner.environment())
        try:
            code = process.wait()
        except Interrupted:
            process.kill()
            process.wait()
            raise Interrupted(f"command '{text}' failed: interrupted by signal") from None
        if code:
            raise Fail(f"command '{text}' failed: exit code {code}")
    restore.finish()
