"""`qm clone` and `qm template`: whole copies of guests, and guests that are only copied."""

import os
import re
import time

import blocks
import config as configuration
import faults
import options
import qm_settings
import registry
import storage
import units
import wire
from command import task
from failure import Fail
from options import BOOL, INT, TEXT
from worker import say

# Of the whole, the share after which the next line comes.
STEP = 1


def clone(arguments):
    usage = "qm clone <vmid> <newid> [OPTIONS]"
    schema = {"name": TEXT, "full": BOOL, "storage": TEXT, "description": TEXT, "pool": TEXT, "snapname": TEXT, "format": TEXT, "target": TEXT, "bwlimit": INT}
    words, found = options.parse(arguments, schema, usage)
    if len(words) < 2:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    number, new = (options.guest_number(word, usage) for word in words[:2])
    config = configuration.load("qemu", number)
    place = configuration.where_is(new)
    if place:
        raise Fail(f"unable to create VM {new}: config file already exists")
    if not found.get("full", not config.is_template()) and config.is_template():
        for slot, volid, _ in config.disks():
            raise Fail(f"Linked clone feature is not supported for drive '{slot}'")
    if not config.is_template() and found.get("full") is False:
        raise Fail("Linked clone feature is only supported for templates")
    return task("qmclone", number, lambda: work(config, new, found))


def work(config, new, found):
    with configuration.lock(config, say):
        config.check_lock()
    copy = configuration.Config("qemu", new)
    copy.values["lock"] = "clone"
    copy.write()
    made = []
    try:
        values = {key: value for key, value in config.values.items()
                  if key not in ("template", "lock", "parent", "protection", "vmgenid", "smbios1", "meta", "tags") or key == "tags"}
        for key in [key for key in values if configuration.UNUSED.fullmatch(key)]:
            del values[key]
        for key in [key for key in values if key.startswith("net")]:
            values[key] = re.sub(r"=([0-9A-F:]{17})", f"={qm_settings.card()}", values[key])
        for slot, volid, settings in config.disks():
            say(f"create full clone of drive {slot} ({volid})")
            owner, volume = storage.split(volid)
            size = owner.size(volume)
            target = storage.named(found.get("storage", owner.name))
            inner = target.allocate(new, size, "disk", say)
            made.append((target, inner))
            copy_disk(owner.path(volume), target.path(inner), size)
            settings["size"] = units.disk(size)
            values[slot] = configuration.join_disk(f"{target.name}:{inner}", settings)
        values["name"] = found.get("name", f"Copy-of-VM-{config.name}")
        copy.values, copy.description = values, found.get("description", config.description)
        qm_settings.fill(copy)
        copy.write()
        if "pool" in found:
            registry.add_to_pool(new, found["pool"])
    except (Fail, OSError) as failure:
        for target, inner in made:
            target.free(inner)
        copy.remove()
        text = failure.text if isinstance(failure, Fail) else str(failure)
        raise Fail(f"clone failed: {text}") from None


def copy_disk(source, target, size):
    """With a line for each percent, as the image converter's are passed on."""
    shown = -STEP
    whole = units.transferred(size)
    pause = faults.number("clone-pace", 0) / 100

    def told(done):
        nonlocal shown
        percent = done * 100 / size
        if percent >= shown + STEP or done == size:
            shown = percent
            say(f"transferred {units.transferred(done)} of {whole} ({percent:.2f}%)")
            time.sleep(pause)

    read, write = os.open(source, os.O_RDONLY), os.open(target, os.O_WRONLY)
    told(0)
    blocks.copy(read, write, size, told)
    os.fsync(write)
    os.close(read)
    os.close(write)


def template(arguments):
    usage = "qm template <vmid> [OPTIONS]"
    words, _ = options.parse(arguments, {"disk": TEXT}, usage)
    if not words:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    config = configuration.load("qemu", options.guest_number(words[0], usage))
    if config.is_template():
        raise Fail("you can't convert a template to a template")
    if config.snapshots:
        raise Fail("unable to create template, because VM contains snapshots")
    if wire.pid(config.number) is not None:
        raise Fail("you can't convert a VM to template if VM is running")
    return task("qmtemplate", config.number, lambda: to_template(config))


def to_template(config):
    with configuration.lock(config):
        config.check_lock()
        for slot, volid, settings in config.disks():
            owner, volume = storage.split(volid)
            base = owner.to_base(volume, say)
            config.values[slot] = configuration.join_disk(f"{owner.name}:{base}", settings)
        config.values["template"] = "1"
        config.write()
