"""A storage that is a thin pool of LVM: each disk, and each of its snapshots, is a thin volume."""

import re
import subprocess

import storage
from failure import Fail


def lvm(say, *command):
    """What the program says goes to the task's log; it is not quiet."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    for line in done.stdout.splitlines():
        say(line)
    if done.returncode:
        words = " ".join(command)
        raise Fail(f"command '/sbin/{words}' failed: exit code {done.returncode}")


def silent(_line):
    pass


class LvmThin(storage.Storage):
    kind = "lvmthin"
    snapshots = True
    freezes = True

    @property
    def group(self):
        return self.values["vgname"]

    @property
    def pool(self):
        return self.values["thinpool"]

    def report(self, *fields):
        command = ["lvs", "--noheadings", "--separator", ":", "--units", "b", "--nosuffix", "-o", ",".join(fields), self.group]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Fail(f"no such logical volume {self.group}/{self.pool}")
        return [line.strip().split(":") for line in done.stdout.splitlines()]

    def activate(self):
        if not any(name == self.pool for (name,) in self.report("lv_name")):
            raise Fail(f"no such logical volume {self.group}/{self.pool}")

    def status(self):
        for name, size, share in self.report("lv_name", "lv_size", "data_percent"):
            if name == self.pool:
                total = int(size)
                used = int(total * float(share or 0) / 100)
                return total, used, total - used
        raise Fail(f"no such logical volume {self.group}/{self.pool}")

    def path(self, volume):
        return f"/dev/{self.group}/{volume}"

    def exists(self, volume):
        return any(name == volume for (name,) in self.report("lv_name"))

    def size(self, volume):
        return next(int(size) for name, size in self.report("lv_name", "lv_size") if name == volume)

    def allocate(self, number, size, purpose="disk", say=print):
        taken = [name for (name,) in self.report("lv_name")]
        name = f"vm-{number}-{purpose}" if purpose.startswith("state-") else storage.free_number(taken, number, purpose)
        kib = (size + 1023) // 1024
        lvm(say, "lvcreate", "-aly", "-Wn", "-V", f"{kib}k", "--name", name, "--thinpool", f"{self.group}/{self.pool}")
        return name

    def resize(self, volume, size):
        lvm(silent, "lvextend", "-L", f"{size}b", f"{self.group}/{volume}")

    def free(self, volume):
        for (name,) in self.report("lv_name"):
            if name.startswith(f"snap_{volume}_"):
                lvm(silent, "lvremove", "-f", f"{self.group}/{name}")
        lvm(silent, "lvremove", "-f", f"{self.group}/{volume}")

    def images(self):
        found = []
        for name, size, share in self.report("lv_name", "lv_size", "data_percent"):
            match = re.fullmatch(r"(?:vm|base)-(\d+)-.*", name)
            if match:
                used = int(int(size) * float(share or 0) / 100)
                found.append((name, int(match.group(1)), int(size), used, "raw"))
        return found

    def snapshot(self, volume, name, say):
        lvm(say, "lvcreate", "-n", f"snap_{volume}_{name}", "-pr", "-s", f"{self.group}/{volume}")

    def rollback(self, volume, name, say):
        lvm(say, "lvremove", "-f", f"{self.group}/{volume}")
        lvm(say, "lvcreate", "-kn", "-n", volume, "-s", f"{self.group}/snap_{volume}_{name}")

    def delete_snapshot(self, volume, name, say):
        lvm(say, "lvremove", "-f", f"{self.group}/snap_{volume}_{name}")

    def to_base(self, volume, say):
        base = f"base{volume[2:]}"
        lvm(silent, "lvrename", self.group, volume, base)
        lvm(silent, "lvchange", "-pr", f"{self.group}/{base}")
        return base


KIND = LvmThin
