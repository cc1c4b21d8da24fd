"""The node's storages: `/etc/pve/storage.cfg`, and what holds for each kind of them."""

import os
import re

import spool
from failure import Fail

CONFIG = "/etc/pve/storage.cfg"


class Storage:
    """One of them. Each kind fills in where volumes are and how they are made."""

    kind = ""
    snapshots = False
    formats = ("raw",)
    # Whether a snapshot freezes what is mounted from it, so that nobody else may have.
    freezes = False
    # Whether zeros have to be written to a new volume.
    writes_zeros = 0

    def __init__(self, name, values):
        self.name, self.values = name, values

    def content(self):
        return [word for word in self.values.get("content", "images,rootdir").split(",") if word]

    def is_enabled(self):
        return self.values.get("disable") != "1"

    def activate(self):
        """Fails where it cannot be used now."""

    def status(self):
        """Bytes in all, used, and available."""
        raise NotImplementedError

    def path(self, volume):
        raise NotImplementedError

    def exists(self, volume):
        return os.path.exists(self.path(volume))

    def size(self, volume):
        import blocks
        return blocks.length(self.path(volume))

    def allocate(self, number, size, purpose="disk", say=print):
        """A new volume for a guest: its name."""
        raise NotImplementedError

    def resize(self, volume, size):
        raise NotImplementedError

    def free(self, volume):
        raise NotImplementedError

    def images(self):
        """Name, guest, bytes, allocated bytes and format of each volume."""
        raise NotImplementedError

    def backups(self):
        """What it has of archives."""
        return []

    def snapshot(self, volume, name, say):
        raise Fail("snapshot feature is not available")

    def rollback(self, volume, name, say):
        raise Fail("snapshot feature is not available")

    def delete_snapshot(self, volume, name, say):
        raise Fail("snapshot feature is not available")

    def check_rollback(self, volume, name):
        """Fails where this snapshot cannot be gone back to."""

    def to_base(self, volume, say):
        """The volume becomes a template's: its new name."""
        raise NotImplementedError

    def retention(self):
        """What is kept, as words: `keep-last`: 2."""
        text = self.values.get("prune-backups", "keep-all=1")
        return {key: int(value) for key, _, value in (word.partition("=") for word in text.split(","))}


def parse(text):
    """Kind, name and values of each section."""
    found, values = [], {}
    for line in text.splitlines():
        head = re.fullmatch(r"(\w+): (\S+)\s*", line)
        if head:
            values = {}
            found.append((head.group(1), head.group(2), values))
        elif line.strip() and found:
            key, _, value = line.strip().partition(" ")
            values[key] = value.strip() or "1"
    return found


def text_of(found):
    parts = []
    for kind, name, values in found:
        parts.append(f"{kind}: {name}\n" + "".join(f"\t{key} {value}\n" for key, value in values.items()))
    return "\n".join(parts)


# The module of each kind.
KINDS = {"dir": "storage_dir", "btrfs": "storage_btrfs", "lvmthin": "storage_lvm", "pbs": "storage_pbs"}


def every():
    found = [one for one in parse(spool.read(CONFIG)) if one[0] in KINDS]
    return [__import__(KINDS[kind]).KIND(name, values) for kind, name, values in found]


def named(name):
    for found in every():
        if found.name == name:
            return found
    raise Fail(f"storage '{name}' does not exist")


def split(volid):
    """The storage of a volume, and its name there."""
    name, colon, volume = volid.partition(":")
    if not colon:
        raise Fail(f"unable to parse volume ID '{volid}'")
    return named(name), volume


def path_of(volid):
    found, volume = split(volid)
    return found.path(volume)


def check(volid):
    found, volume = split(volid)
    if not found.exists(volume):
        raise Fail(f"volume '{volid}' does not exist")


def change(edit):
    """Writes the sections again after `edit` has changed their list."""
    with spool.locked("/run/lock/storage.cfg.lock"):
        found = parse(spool.read(CONFIG))
        edit(found)
        spool.write(CONFIG, text_of(found))


def free_number(taken, number, purpose, ending=""):
    """The first name that no volume has: `vm-101-disk-0`."""
    at = 0
    while f"vm-{number}-{purpose}-{at}{ending}" in taken:
        at += 1
    return f"vm-{number}-{purpose}-{at}{ending}"
