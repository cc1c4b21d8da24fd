"""A storage on Btrfs: each disk is a subvolume with a file in it, and so is each of its snapshots."""

import os
import re
import subprocess

import storage
import storage_dir
from failure import Fail


def btrfs(*arguments):
    """Quiet, as it is asked to be; what it says of an error is the error."""
    command = ["btrfs", "-q", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Fail(f"command '{' '.join(command)}' failed: {done.stderr.strip()}")


class Btrfs(storage_dir.Dir):
    kind = "btrfs"
    snapshots = True

    def folder(self, volume):
        return f"{self.root}/images/{volume.removesuffix('.raw')}"

    def path(self, volume):
        if volume.startswith(("backup/", "vztmpl/")) or not volume.endswith(".raw") or "-state-" in volume:
            return super().path(volume)
        return f"{self.folder(volume)}/disk.raw"

    def allocate(self, number, size, purpose="disk", say=print):
        self.activate()
        if purpose.startswith("state-"):
            return super().allocate(number, size, purpose, say)
        parent = f"{self.root}/images/{number}"
        os.makedirs(parent, exist_ok=True)
        volume = f"{number}/" + storage.free_number(os.listdir(parent), number, purpose) + ".raw"
        btrfs("subvolume", "create", self.folder(volume))
        say(f"Formatting '{self.path(volume)}', fmt=raw size={size} preallocation=off")
        with open(self.path(volume), "xb") as file:
            file.truncate(size)
        return volume

    def free(self, volume):
        if volume.startswith("backup/") or "-state-" in volume:
            super().free(volume)
            return
        folder, parent = self.folder(volume), os.path.dirname(self.folder(volume))
        for name in sorted(os.listdir(parent)):
            if name.startswith(f"{os.path.basename(folder)}@"):
                btrfs("subvolume", "delete", f"{parent}/{name}")
        btrfs("subvolume", "delete", folder)
        if not os.listdir(parent):
            os.rmdir(parent)

    def images(self):
        found = []
        folder = f"{self.root}/images"
        for number in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            for name in sorted(os.listdir(f"{folder}/{number}")) if number.isdigit() else []:
                state = re.fullmatch(r"vm-\d+-state-.*\.raw", name)
                path = f"{folder}/{number}/{name}" + ("" if state else "/disk.raw")
                if (state or re.fullmatch(r"(?:vm|base)-\d+-[\w-]+", name)) and os.path.isfile(path):
                    stat = os.stat(path)
                    volume = f"{number}/{name.removesuffix('.raw')}.raw"
                    found.append((volume, int(number), stat.st_size, stat.st_blocks * 512, "raw"))
        return found

    def snapshot(self, volume, name, say):
        btrfs("subvolume", "snapshot", "-r", "--", self.folder(volume), f"{self.folder(volume)}@{name}")

    def rollback(self, volume, name, say):
        folder = self.folder(volume)
        beside = f"{folder}.tmp.{os.getpid()}"
        btrfs("subvolume", "snapshot", "--", f"{folder}@{name}", beside)
        btrfs("subvolume", "delete", "--", folder)
        os.rename(beside, folder)

    def delete_snapshot(self, volume, name, say):
        btrfs("subvolume", "delete", "--", f"{self.folder(volume)}@{name}")

    def to_base(self, volume, say):
        number, name = volume.split("/")
        base = f"{number}/base{name[2:]}"
        os.rename(self.folder(volume), self.folder(base))
        btrfs("property", "set", self.folder(base), "ro", "true")
        return base


KIND = Btrfs
