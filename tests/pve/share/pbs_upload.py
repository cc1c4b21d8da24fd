"""The backup of a machine to a backup server: only what the last snapshot of it has not, and of a
running machine only what was written since then."""

import os

import pbs_store
import pbs_task
import units
import vzdump_qemu
import wire
from failure import Fail


class Disk:
    def __init__(self, slot, file):
        self.slot, self.file = slot, file
        self.size = os.lseek(file, 0, os.SEEK_END)
        self.archive = f"drive-{slot}.img.fidx"
        self.count = -(-self.size // pbs_store.CHUNK)
        # Which chunks are to be read, and the hashes of all: what is read has none before.
        self.dirty = set(range(self.count))
        self.digests = [None] * self.count
        self.state = "created new"

    def length(self, at):
        return min(pbs_store.CHUNK, self.size - at * pbs_store.CHUNK)

    def compare(self, kept, last):
        """With what the guest's process knows of the disk at its last backup."""
        if kept is None:
            return
        if last is None or kept["last"] != last or len(kept["digests"]) != self.count:
            self.state = "existing bitmap was invalid and has been cleared"
            return
        self.digests = [digest for digest, _ in pbs_store.split_disk(self.file, self.size)]
        self.dirty = {at for at, digest in enumerate(self.digests) if digest != kept["digests"][at]}
        if self.dirty:
            self.state = f"OK ({units.size(self.dirty_bytes())} of {units.size(self.size)} dirty)"
        else:
            self.state = "OK (drive clean)"

    def dirty_bytes(self):
        return sum(self.length(at) for at in self.dirty)

    def read(self):
        """Number, hash and bytes of each chunk that is to be read; no bytes where they are all zero."""
        if len(self.dirty) == self.count:
            for at, (digest, data) in enumerate(pbs_store.split_disk(self.file, self.size)):
                self.digests[at] = digest
                yield at, digest, data
            return
        for at in sorted(self.dirty):
            data = os.pread(self.file, self.length(at), at * pbs_store.CHUNK)
            yield at, self.digests[at], data if data.strip(b"\0") else b""


def send(copied):
    single, name = copied.single, copied.snapshot
    store = single.job.storage.store()
    group = name.rpartition("/")[0]
    last = last_good(store, group)
    disks = [Disk(slot, file) for slot, file in copied.files.items()]
    kept = bitmaps(copied)
    for disk in disks:
        disk.compare(kept.get(disk.slot), last and f"{store.path}:{last}")
        single.info(f"{disk.slot}: dirty-bitmap status: {disk.state}")
    total, whole = sum(disk.dirty_bytes() for disk in disks), sum(disk.size for disk in disks)
    if total < whole:
        single.info(f"using fast incremental mode (dirty-bitmap), {units.size(total)} dirty of {units.size(whole)} total")
    # While it is not whole, the guest's process knows of nothing.
    keep(copied, {})
    progress = vzdump_qemu.Progress(single, total)
    upload(copied, store, disks, last, progress, whole)
    keep(copied, {disk.slot: {"last": f"{store.path}:{name}", "digests": disk.digests} for disk in disks})


def last_good(store, group):
    for name in store.snapshots(group)[::-1]:
        if os.path.exists(f"{store.folder(name)}/index.json.blob"):
            state = store.manifest(name).get("unprotected", {}).get("verify_state", {}).get("state")
            return name if state != "failed" else None
    return None


def bitmaps(copied):
    return wire.ask(copied.number, ("bitmaps",)) if copied.runs else {}


def keep(copied, found):
    """In the guest's process, and as long as that lives."""
    if copied.runs and wire.pid(copied.number) is not None:
        wire.ask(copied.number, ("bitmaps", found))


def upload(copied, store, disks, last, progress, whole):
    name = copied.snapshot
    store.begin(name, copied.single.job.storage.user())
    task = pbs_task.Task("backup", f"{store.name}:{name.rpartition('/')[0]}", copied.single.job.storage.user(), False)
    files, reused = [], 0
    conf = vzdump_qemu.conf_bytes(copied)
    store.write_blob(name, "qemu-server.conf.blob", conf)
    files.append({"filename": "qemu-server.conf.blob", "size": len(conf), "crypt-mode": "none", "csum": ""})
    try:
        for disk in disks:
            known = set(store.read_index(last, disk.archive)[1]) if last and disk.archive in store.indexes(last) else set()
            reused += disk.size - disk.dirty_bytes()
            for at, digest, data in disk.read():
                length = disk.length(at)
                new = bool(data) and digest not in known
                store.insert(data or bytes(length), digest)
                reused += 0 if new else length
                progress.add(length, length if new else 0, not data)
            csum = store.write_index(name, disk.archive, disk.size, disk.digests)
            files.append({"filename": disk.archive, "size": disk.size, "crypt-mode": "none", "csum": csum})
    except BaseException:
        task.run(failing)
        raise
    kind, ident, when = name.split("/")
    store.write_manifest(name, {"backup-type": kind, "backup-id": ident, "backup-time": pbs_store.seconds(when), "files": files, "unprotected": {}})
    progress.end(f"backup was done incrementally, reused {units.size(reused, 2)} ({reused * 100 // (whole or 1)}%)")
    store.write_blob(name, "client.log.blob", "".join(copied.single.log).encode())
    task.run(lambda say: None)


def failing(_say):
    raise Fail("backup ended but finished flag is not set.")
