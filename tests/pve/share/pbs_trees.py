"""Trees of files on a backup server: packed into one stream, which is cut into chunks."""

import hashlib
import os
import subprocess
import time

import pbs_store
import pbs_task
from failure import Fail
from pbs_sizes import human

ARCHIVE = "root.pxar.didx"


def send(single, owner, name, point, conf):
    store = owner.store()
    group = name.rpartition("/")[0]
    before = store.snapshots(group)
    last = before[-1] if before else None
    store.begin(name, owner.user())
    task = pbs_task.Task("backup", f"{store.name}:{group}", owner.user(), False)
    begun = time.monotonic()
    single.info(f"Starting backup: {name}")
    single.info(f"Client name: {os.uname().nodename}")
    single.info(f"Starting backup protocol: {time.asctime()}")
    known = set()
    if last:
        single.info(f"Downloading previous manifest ({time.asctime(time.localtime(pbs_store.seconds(last.rpartition('/')[2])))})")
        known = set(store.read_index(last, ARCHIVE)[1]) if ARCHIVE in store.indexes(last) else set()
    else:
        single.info("No previous manifest available.")
    single.info(f"Upload config file '/var/tmp/vzdumptmp{os.getpid()}/etc/vzdump/pct.conf' to '{owner.repository()}' as pct.conf.blob")
    store.write_blob(name, "pct.conf.blob", conf.encode())
    single.info(f"Upload directory '{point}' to '{owner.repository()}' as {ARCHIVE}")
    size, new, packed, digests = upload(store, point, known)
    spent = max(time.monotonic() - begun, 0.01)
    single.info(f"root.pxar: had to backup {human(new)} of {human(size)} (compressed {human(packed)}) in {spent:.2f}s")
    single.info(f"root.pxar: average backup speed: {human(new / spent)}/s")
    if size - new:
        single.info(f"root.pxar: backup was done incrementally, reused {human(size - new)} ({(size - new) * 100 / (size or 1):.1f}%)")
    single.info(f"Uploaded backup catalog ({human(220)})")
    csum = store.write_index(name, ARCHIVE, size, digests)
    kind, ident, when = name.split("/")
    store.write_manifest(name, {"backup-type": kind, "backup-id": ident, "backup-time": pbs_store.seconds(when), "unprotected": {}, "files": [
        {"filename": "pct.conf.blob", "size": len(conf), "crypt-mode": "none", "csum": ""},
        {"filename": ARCHIVE, "size": size, "crypt-mode": "none", "csum": csum}]})
    single.info(f"Duration: {time.monotonic() - begun:.2f}s")
    single.info(f"End Time: {time.asctime()}")
    store.write_blob(name, "client.log.blob", "".join(single.log).encode())
    task.run(lambda say: None)


def upload(store, point, known):
    """Bytes in all, new ones, and what those take; and the chunks."""
    size = new = packed = 0
    digests = []
    process = subprocess.Popen(["tar", "cpf", "-", "--sort=name", "--numeric-owner", "--xattrs", "--exclude=./lost+found", "-C", point, "."],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while True:
        data = read(process.stdout, pbs_store.CHUNK)
        if not data:
            break
        digest = hashlib.sha256(data).digest()
        fresh = digest not in known
        store.insert(data, digest)
        size += len(data)
        if fresh:
            new += len(data)
            packed += os.path.getsize(store.chunk_path(digest))
        digests.append(digest)
    if process.wait():
        raise Fail("proxmox-backup-client failed: exit code 255")
    return size, new, packed, digests


def read(file, count):
    parts, left = [], count
    while left:
        data = file.read(left)
        if not data:
            break
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def unpack(store, name, point):
    size, digests = store.read_index(name, ARCHIVE)
    process = subprocess.Popen(["tar", "xpf", "-", "--numeric-owner", "--xattrs", "-C", point], stdin=subprocess.PIPE)
    for digest in digests:
        process.stdin.write(store.chunk(digest))
    process.stdin.close()
    if process.wait():
        raise Fail("command 'proxmox-backup-client restore' failed: exit code 255")
    return size
