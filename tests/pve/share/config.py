"""Configurations of guests: `key: value`, comments as the description, and a section for each
snapshot."""

import contextlib
import os
import re

import spool
import units
from failure import Fail

FOLDERS = {"qemu": "qemu-server", "lxc": "lxc"}
NAMES = {"qemu": "VM", "lxc": "CT"}
DISK = re.compile(r"(scsi|virtio|sata|ide)\d+|efidisk0|tpmstate0")
# A disk that is in no slot.
UNUSED = re.compile(r"unused\d+")
MOUNT = re.compile(r"rootfs|mp\d+")


def node():
    return os.uname().nodename


class Config:
    def __init__(self, kind, number):
        self.kind, self.number = kind, number
        self.values, self.description = {}, None
        # By their names: the same, and nested no deeper.
        self.snapshots = {}

    @property
    def path(self):
        return f"/etc/pve/nodes/{node()}/{FOLDERS[self.kind]}/{self.number}.conf"

    def get(self, key, default=None):
        return self.values.get(key, default)

    @property
    def name(self):
        key = "name" if self.kind == "qemu" else "hostname"
        return self.values.get(key, f"{NAMES[self.kind]} {self.number}")

    def is_template(self):
        return self.values.get("template") == "1"

    def text(self):
        parts = [section_text(self.values, self.description)]
        for name in sorted(self.snapshots):
            parts.append(f"\n[{name}]\n" + section_text(*self.snapshots[name]))
        return "".join(parts)

    def write(self):
        spool.write(self.path, self.text())

    def remove(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def disks(self, values=None):
        """Slot, volume and settings of each disk, the first ones first; media that is only read is
        none."""
        found = []
        pattern = DISK if self.kind == "qemu" else MOUNT
        for key, value in sorted((values or self.values).items(), key=lambda item: slot_order(item[0])):
            if not pattern.fullmatch(key):
                continue
            volume, settings = split_disk(value)
            if settings.get("media") == "cdrom" or volume == "none" or volume.startswith("/"):
                continue
            found.append((key, volume, settings))
        return found

    def volumes(self):
        """All that belongs to it: also what is in no slot, and what snapshots hold."""
        found = []
        for values in [self.values] + [section[0] for section in self.snapshots.values()]:
            names = [volume for _, volume, _ in self.disks(values)]
            names += [value.split(",")[0] for key, value in values.items() if UNUSED.fullmatch(key)]
            names += [values["vmstate"]] if "vmstate" in values else []
            found += [name for name in names if name not in found]
        return found

    def boot_disk(self):
        order = re.search(r"order=([\w;]+)", self.get("boot", ""))
        disks = {slot: volume for slot, volume, _ in self.disks()}
        for slot in order.group(1).split(";") if order else []:
            if slot in disks:
                return slot
        return next(iter(disks), None)

    def size_of(self, slot):
        return units.parse_disk(split_disk(self.get(slot, ""))[1].get("size", "0"))

    def check_lock(self, skip=False):
        lock = self.get("lock")
        if lock and not skip:
            raise Fail(f"{NAMES[self.kind]} is locked ({lock})")

    def agent(self):
        return self.get("agent", "0").split(",")[0] in ("1", "enabled=1")


def slot_order(key):
    word, number = re.fullmatch(r"([a-z_A-Z-]*)(\d*).*", key).groups()
    return word, int(number or 0)


def split_disk(value):
    volume, *rest = value.split(",")
    return volume.removeprefix("file=").removeprefix("volume="), dict(word.partition("=")[::2] for word in rest)


def join_disk(volume, settings):
    return ",".join([volume] + [f"{key}={value}" for key, value in sorted(settings.items())])


def section_text(values, description):
    lines = [f"#{line}\n" for line in (description or "").split("\n")] if description else []
    return "".join(lines + [f"{key}: {values[key]}\n" for key in sorted(values)])


def parse(text, config):
    values, comment, name = config.values, [], None

    def close():
        description = "\n".join(comment) or None
        if name is None:
            config.description = description
        else:
            config.snapshots[name] = (values, description)

    for line in text.splitlines():
        section = re.fullmatch(r"\[([\w-]+)\]\s*", line)
        if section:
            close()
            values, comment, name = {}, [], section.group(1)
        elif line.startswith("#"):
            comment.append(line[1:])
        elif ": " in line or line.rstrip().endswith(":"):
            key, _, value = line.partition(":")
            values[key] = value.strip()
    close()
    return config


def exists(kind, number):
    return os.path.exists(Config(kind, number).path)


def load(kind, number):
    config = Config(kind, number)
    if not os.path.exists(config.path):
        where = f"nodes/{node()}/{FOLDERS[kind]}/{number}.conf"
        raise Fail(f"Configuration file '{where}' does not exist", 2)
    return parse(spool.read(config.path), config)


def everywhere():
    """Node, kind and number of each guest of the cluster."""
    found = []
    for name in sorted(os.listdir("/etc/pve/nodes")):
        for kind, folder in FOLDERS.items():
            with contextlib.suppress(FileNotFoundError):
                for file in os.listdir(f"/etc/pve/nodes/{name}/{folder}"):
                    if re.fullmatch(r"\d+\.conf", file):
                        found.append((name, kind, int(file[:-5])))
    return sorted(found, key=lambda guest: guest[2])


def numbers(kind):
    return [number for name, found, number in everywhere() if name == node() and found == kind]


def where_is(number):
    """Node and kind of a guest; nothing where there is none."""
    for name, kind, found in everywhere():
        if found == number:
            return name, kind
    return None


def load_any(number):
    found = where_is(number)
    return load(found[1], number) if found and found[0] == node() else None


@contextlib.contextmanager
def lock(config, say=None):
    """The short lock of a guest's configuration, and what the configuration is by then."""
    folder = "qemu-server" if config.kind == "qemu" else "lxc"
    path = f"/var/lock/{folder}/lock-{config.number}.conf"
    if config.kind == "lxc":
        path = f"/run/lock/lxc/pve-config-{config.number}.lock"
    with spool.locked(path, 10, (lambda: say("trying to acquire lock...")) if say else None) as waited:
        if waited and say:
            say(" OK")
        if os.path.exists(config.path):
            fresh = load(config.kind, config.number)
            config.values, config.snapshots = fresh.values, fresh.snapshots
            config.description = fresh.description
        yield config
