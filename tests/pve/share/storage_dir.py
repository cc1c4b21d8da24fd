"""A storage that is a folder: images, archives and templates lie in folders of their own in it."""

import os
import re
import time

import storage
from failure import Fail

BACKUP = re.compile(
    r"vzdump-(qemu|lxc)-(\d+)-(\d{4}_\d\d_\d\d-\d\d_\d\d_\d\d)\.((?:vma|tar)(?:\.(?:zst|gz|lzo))?)"
)


class Dir(storage.Storage):
    kind = "dir"

    @property
    def root(self):
        return self.values["path"]

    def activate(self):
        if not os.path.isdir(self.root):
            raise Fail(f"storage '{self.name}' is not online: no folder {self.root}")
        if self.values.get("is_mountpoint") == "1" and not os.path.ismount(self.root):
            raise Fail(f"unable to activate storage '{self.name}' - directory is expected to be a mount point but is not mounted: '{self.root}'")
        for name in ("dump", "images", "template/cache"):
            os.makedirs(f"{self.root}/{name}", exist_ok=True)

    def status(self):
        self.activate()
        found = os.statvfs(self.root)
        unit = found.f_frsize
        return found.f_blocks * unit, (found.f_blocks - found.f_bfree) * unit, found.f_bavail * unit

    def path(self, volume):
        if volume.startswith("backup/"):
            return f"{self.root}/dump/{volume[7:]}"
        if volume.startswith("vztmpl/"):
            return f"{self.root}/template/cache/{volume[7:]}"
        return f"{self.root}/images/{volume}"

    def allocate(self, number, size, purpose="disk", say=print):
        self.activate()
        folder = f"{self.root}/images/{number}"
        os.makedirs(folder, exist_ok=True)
        if purpose.startswith("state-"):
            name = f"vm-{number}-{purpose}.raw"
        else:
            name = storage.free_number(os.listdir(folder), number, purpose, ".raw")
        path = f"{folder}/{name}"
        say(f"Formatting '{path}', fmt=raw size={size} preallocation=off")
        with open(path, "xb") as file:
            file.truncate(size)
        os.chmod(path, 0o640)
        return f"{number}/{name}"

    def resize(self, volume, size):
        os.truncate(self.path(volume), size)

    def free(self, volume):
        path = self.path(volume)
        os.unlink(path)
        if volume.startswith("backup/"):
            base = path.partition(".vma")[0].partition(".tar")[0]
            for beside in (f"{path}.notes", f"{base}.log", f"{path}.protected"):
                if os.path.exists(beside):
                    os.unlink(beside)
        elif not os.listdir(os.path.dirname(path)):
            os.rmdir(os.path.dirname(path))

    def images(self):
        found = []
        folder = f"{self.root}/images"
        for number in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            for name in sorted(os.listdir(f"{folder}/{number}")) if number.isdigit() else []:
                path = f"{folder}/{number}/{name}"
                if re.fullmatch(r"(?:vm|base)-\d+-.*\.raw", name) and os.path.isfile(path):
                    stat = os.stat(path)
                    found.append((f"{number}/{name}", int(number), stat.st_size, stat.st_blocks * 512, "raw"))
        return found

    def backups(self):
        found = []
        folder = f"{self.root}/dump"
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            match = BACKUP.fullmatch(name)
            if not match:
                continue
            path = f"{folder}/{name}"
            entry = {
                "content": "backup", "ctime": int(time.mktime(time.strptime(match.group(3), "%Y_%m_%d-%H_%M_%S"))),
                "format": match.group(4), "size": os.path.getsize(path), "subtype": match.group(1),
                "vmid": int(match.group(2)), "volid": f"{self.name}:backup/{name}",
            }
            if os.path.exists(f"{path}.notes"):
                with open(f"{path}.notes", encoding="utf-8") as file:
                    entry["notes"] = file.read().rstrip("\n")
            if os.path.exists(f"{path}.protected"):
                entry["protected"] = 1
            found.append(entry)
        return found

    def to_base(self, volume, say):
        number, name = volume.split("/")
        base = f"{number}/base{name[2:]}"
        os.rename(self.path(volume), self.path(base))
        os.chmod(self.path(base), 0o440)
        return base


KIND = Dir
