"""`qm set` and `qm create`: a guest's settings, and disks that are made with them."""

import os
import re

import command
import config as configuration
import options
import storage
import units
from failure import Fail
from options import BOOL, INT, TEXT

SCHEMA = {
    "name": TEXT, "memory": TEXT, "cores": INT, "sockets": INT, "cpu": TEXT, "ostype": TEXT, "boot": TEXT, "agent": TEXT,
    "onboot": BOOL, "protection": BOOL, "tags": TEXT, "description": TEXT, "lock": TEXT, "delete": TEXT, "scsihw": TEXT,
    "scsi*": TEXT, "virtio*": TEXT, "sata*": TEXT, "ide*": TEXT, "net*": TEXT, "serial*": TEXT, "vga": TEXT, "bios": TEXT,
    "efidisk*": TEXT, "tpmstate*": TEXT, "hookscript": TEXT, "template": BOOL, "kvm": BOOL, "args": TEXT, "startup": TEXT,
    "skiplock": BOOL, "force": BOOL, "ipconfig*": TEXT, "ciuser": TEXT, "unused*": TEXT, "balloon": INT, "pool": TEXT,
    "machine": TEXT, "smbios1": TEXT, "digest": TEXT, "start": BOOL, "storage": TEXT, "unique": BOOL,
}
SPECIAL = ("delete", "skiplock", "force", "description", "pool", "digest", "start", "storage", "unique")


def card():
    """A new address for a network card, of Proxmox's own range."""
    return "BC:24:11:" + ":".join(f"{byte:02X}" for byte in os.urandom(3))


def apply(config, found, say):
    """Returns the volumes that it made."""
    for key in filter(None, re.split(r"[,;\s]+", found.get("delete", ""))):
        if key == "description":
            config.description = None
            continue
        value = config.values.pop(key, None)
        if value and configuration.DISK.fullmatch(key):
            park(config, configuration.split_disk(value)[0])
        elif value and configuration.UNUSED.fullmatch(key):
            owner, volume = storage.split(value)
            owner.free(volume)
    if "description" in found:
        config.description = found["description"] or None
    for key, value in options.settings(found, SPECIAL):
        if key.startswith("net"):
            value = re.sub(r"^(model=)?(virtio|e1000|vmxnet3|rtl8139)(?=,|$)", lambda match: f"{match.group(2)}={card()}", value)
        if configuration.DISK.fullmatch(key):
            value = attach(config, key, str(value), say)
        config.values[key] = str(value)


def attach(config, slot, value, say):
    """`STORAGE:GIB` makes a disk; else it is one that is there."""
    volid, settings = configuration.split_disk(value)
    made = re.fullmatch(r"([\w-]+):(\d+(?:\.\d+)?)", volid)
    if made:
        owner = storage.named(made.group(1))
        if "images" not in owner.content():
            raise Fail(f"storage '{owner.name}' does not support content-type 'images'")
        # Those of firmware have a size of their own.
        size = {"efidisk0": 528 << 10, "tpmstate0": 4 << 20}.get(slot, int(float(made.group(2)) * (1 << 30)))
        volume = owner.allocate(config.number, size, "disk", say)
        settings["size"] = units.disk(size)
        volid = f"{owner.name}:{volume}"
        say(f"{slot}: successfully created disk '{configuration.join_disk(volid, settings)}'")
    elif ":" in volid and settings.get("media") != "cdrom":
        storage.check(volid)
        owner, volume = storage.split(volid)
        settings.setdefault("size", units.disk(owner.size(volume)))
        for key in [key for key, taken in config.values.items() if configuration.UNUSED.fullmatch(key) and taken == volid]:
            del config.values[key]
    before = config.values.get(slot)
    if before and configuration.split_disk(before)[0] not in (volid, "none"):
        park(config, configuration.split_disk(before)[0])
    return configuration.join_disk(volid, settings)


def park(config, volid):
    at = 0
    while f"unused{at}" in config.values:
        at += 1
    config.values[f"unused{at}"] = volid


def change(arguments):
    usage = "qm set <vmid> [OPTIONS]"
    words, found = options.parse(arguments, SCHEMA, usage)
    if not words:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    config = configuration.load("qemu", options.guest_number(words[0], usage))
    if not found:
        raise Fail("no options specified")
    with configuration.lock(config):
        if "lock" not in found and "lock" not in found.get("delete", ""):
            config.check_lock(found.get("skiplock"))
        before = dict(config.values)
        apply(config, found, command.out)
        config.write()
    shown = {key: value for key, value in config.values.items() if key in found and before.get(key) != value and not configuration.DISK.fullmatch(key)}
    for key, value in shown.items():
        command.out(f"update VM {config.number}: -{key} {value}")


def create(arguments):
    usage = "qm create <vmid> [OPTIONS]"
    words, found = options.parse(arguments, SCHEMA, usage)
    if not words:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    number = options.guest_number(words[0], usage)
    place = configuration.where_is(number)
    if place:
        raise Fail(f"unable to create VM {number} - VM {number} already exists on node '{place[0]}'")

    def work():
        import worker
        config = configuration.Config("qemu", number)
        config.values["lock"] = "create"
        config.write()
        apply(config, found, worker.say)
        config.values.pop("lock", None)
        fill(config)
        config.write()

    return command.task("qmcreate", number, work)


def fill(config):
    """What every guest has."""
    import time
    with open("/proc/sys/kernel/random/uuid", encoding="ascii") as file:
        config.values.setdefault("smbios1", f"uuid={file.read().strip()}")
    with open("/proc/sys/kernel/random/uuid", encoding="ascii") as file:
        config.values.setdefault("vmgenid", file.read().strip())
    config.values.setdefault("meta", f"creation-qemu=9.2.0,ctime={int(time.time())}")
