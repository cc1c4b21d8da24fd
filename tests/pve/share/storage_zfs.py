"""A storage on ZFS: each disk is a volume, and only its newest snapshot can be gone back to."""

import subprocess
import time

import os
import storage
from failure import Fail


def zfs(*arguments):
    done = subprocess.run(["zfs", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Fail(f"zfs error: {done.stderr.strip()}")
    return done.stdout


class Zfs(storage.Storage):
    kind = "zfspool"
    snapshots = True

    @property
    def pool(self):
        return self.values["pool"]

    def status(self):
        used, avail = zfs("get", "-o", "value", "-Hp", "used,available", self.pool).split()
        return int(used) + int(avail), int(used), int(avail)

    def activate(self):
        zfs("list", "-H", self.pool)

    def path(self, volume):
        return f"/dev/zvol/{self.pool}/{volume}"

    def names(self):
        return [line.rpartition("/")[2] for line in zfs("list", "-H", "-o", "name", "-t", "volume", "-r", self.pool).splitlines()]

    def exists(self, volume):
        return volume in self.names()

    def size(self, volume):
        return int(zfs("get", "-o", "value", "-Hp", "volsize", f"{self.pool}/{volume}"))

    def allocate(self, number, size, purpose="disk", say=print):
        taken = self.names()
        name = f"vm-{number}-{purpose}" if purpose.startswith("state-") else storage.free_number(taken, number, purpose)
        kib = (size + 1023) // 1024
        zfs("create", "-s", "-V", f"{kib}k", f"{self.pool}/{name}")
        until = time.monotonic() + 10
        while not os.path.exists(self.path(name)) and time.monotonic() < until:
            time.sleep(0.02)
        return name

    def resize(self, volume, size):
        zfs("set", f"volsize={size // 1024}k", f"{self.pool}/{volume}")

    def free(self, volume):
        zfs("destroy", "-r", f"{self.pool}/{volume}")

    def images(self):
        found = []
        for name in self.names():
            size, used = zfs("get", "-o", "value", "-Hp", "volsize,used", f"{self.pool}/{name}").split()
            found.append((name, int(name.split("-")[1]), int(size), int(used), "raw"))
        return found

    def snapshot(self, volume, name, say):
        zfs("snapshot", f"{self.pool}/{volume}@{name}")

    def check_rollback(self, volume, name):
        lines = zfs("list", "-H", "-o", "name", "-t", "snapshot", "-s", "creation", "-r", f"{self.pool}/{volume}").split()
        newest = lines[-1].rpartition("@")[2] if lines else None
        if newest != name:
            raise Fail(f"can't rollback, '{name}' is not most recent snapshot on '{self.name}:{volume}'")

    def rollback(self, volume, name, say):
        zfs("rollback", f"{self.pool}/{volume}@{name}")

    def delete_snapshot(self, volume, name, say):
        zfs("destroy", f"{self.pool}/{volume}@{name}")

    def to_base(self, volume, say):
        base = f"base{volume[2:]}"
        zfs("rename", f"{self.pool}/{volume}", f"{self.pool}/{base}")
        zfs("snapshot", f"{self.pool}/{base}@__base__")
        return base


KIND = Zfs
