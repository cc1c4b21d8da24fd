"""`pct`: what is done with containers by hand."""

import os
import re
import subprocess

import command
import config as configuration
import containers
import options
import pct_restore
import qm_clone
import qm_destroy
import qm_snapshots
import registry
import storage
import units
import worker
from command import out, task
from failure import Fail
from options import BOOL, INT, TEXT

SCHEMA = {
    "hostname": TEXT, "memory": INT, "swap": INT, "cores": INT, "rootfs": TEXT, "mp*": TEXT, "net*": TEXT, "onboot": BOOL, "protection": BOOL,
    "tags": TEXT, "description": TEXT, "lock": TEXT, "delete": TEXT, "ostype": TEXT, "arch": TEXT, "unprivileged": BOOL, "features": TEXT,
    "template": BOOL, "pool": TEXT, "storage": TEXT, "force": BOOL, "password": TEXT, "start": BOOL, "unused*": TEXT, "bwlimit": INT, "unique": BOOL,
    "ignore-unpack-errors": BOOL, "restore": BOOL,
}
SPECIAL = ("delete", "description", "pool", "storage", "force", "password", "start", "rootfs", "bwlimit", "unique", "ignore-unpack-errors", "restore")


def number_of(words, usage):
    if not words:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    return options.guest_number(words[0], usage)


def config_of(arguments, usage, schema=None):
    words, found = options.parse(arguments, schema or {}, usage)
    return configuration.load("lxc", number_of(words, usage)), words, found


def list_guests(_arguments):
    numbers = configuration.numbers("lxc")
    if numbers:
        out(f"{'VMID':<10} {'Status':<10} {'Lock':<12} {'Name':<20}")
    for number in numbers:
        config = configuration.load("lxc", number)
        state = "running" if containers.pid(number) else "stopped"
        out(f"{number:<10} {state:<10} {config.get('lock', ''):<12} {config.name:<20}")


def status(arguments):
    config, _, _ = config_of(arguments, "pct status <vmid> [OPTIONS]", {"verbose": BOOL})
    out(f"status: {'running' if containers.pid(config.number) else 'stopped'}")


def show(arguments):
    config, _, found = config_of(arguments, "pct config <vmid> [OPTIONS]", {"current": BOOL, "snapshot": TEXT})
    values = config.snapshots[found["snapshot"]][0] if "snapshot" in found else config.values
    for key in sorted(values):
        out(f"{key}: {values[key]}")


def power(verb):
    def run(arguments):
        config, _, _ = config_of(arguments, f"pct {verb} <vmid> [OPTIONS]", {"skiplock": BOOL, "timeout": INT, "forceStop": BOOL, "debug": BOOL})
        return 255 if containers.power(config, verb).error is not None else 0
    return run


def unlock(arguments):
    config, _, _ = config_of(arguments, "pct unlock <vmid>")
    with configuration.lock(config):
        config.values.pop("lock", None)
        config.write()


def change(arguments):
    config, _, found = config_of(arguments, "pct set <vmid> [OPTIONS]", SCHEMA)
    with configuration.lock(config):
        if "lock" not in found and "lock" not in found.get("delete", ""):
            config.check_lock()
        for key in filter(None, re.split(r"[,;\s]+", found.get("delete", ""))):
            config.values.pop(key, None)
        apply(config, found)
        config.write()


def apply(config, found):
    if "description" in found:
        config.description = found["description"] or None
    for key, value in options.settings(found, SPECIAL):
        if re.fullmatch(r"mp\d+", key):
            value = volume(config.number, str(value))
        config.values[key] = str(value)


def volume(number, text):
    """`STORAGE:GIB` makes one, with a file system."""
    volid, settings = configuration.split_disk(text)
    made = re.fullmatch(r"([\w-]+):(\d+(?:\.\d+)?)", volid)
    if made:
        owner = storage.named(made.group(1))
        size = int(float(made.group(2)) * (1 << 30))
        volid = f"{owner.name}:{allocate(owner, number, size)}"
        settings["size"] = units.disk(size)
    return configuration.join_disk(volid, settings)


def allocate(owner, number, size):
    if "rootdir" not in owner.content():
        raise Fail(f"storage '{owner.name}' does not support container directories")
    name = owner.allocate(number, size, "disk", worker.say)
    path = owner.path(name)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "root_owner=0:0", path], capture_output=True, check=True)
    tell(path)
    return name


def tell(path):
    """What the maker of file systems says."""
    done = subprocess.run(["dumpe2fs", "-h", path], capture_output=True, text=True, check=True).stdout
    found = dict(line.split(":", 1) for line in done.splitlines() if ":" in line)
    blocks = int(found["Block count"])
    worker.say(f"Creating filesystem with {blocks} 4k blocks and {found['Inode count'].strip()} inodes")
    worker.say(f"Filesystem UUID: {found['Filesystem UUID'].strip()}")
    per_group = int(found["Blocks per group"])
    backups = []
    for group in range(1, -(-blocks // per_group)):
        if group == 1 or any(is_power(group, base) for base in (3, 5, 7)):
            backups.append(str(group * per_group))
    if backups:
        worker.say("Superblock backups stored on blocks: ")
        worker.say("\t" + ", ".join(backups))


def is_power(number, base):
    while number > 1 and number % base == 0:
        number //= base
    return number == 1


def create(arguments):
    usage = "pct create <vmid> <ostemplate> [OPTIONS]"
    words, found = options.parse(arguments, SCHEMA, usage)
    if found.get("restore"):
        return pct_restore.run(words, found)
    number = number_of(words, usage)
    check_free(number)
    archive = words[1] if words[1].startswith("/") else storage.path_of(words[1])
    if not os.path.exists(archive):
        raise Fail(f"volume '{words[1]}' does not exist")

    def work():
        config = configuration.Config("lxc", number)
        config.values["lock"] = "create"
        config.write()
        made = make_root(config, found)
        try:
            pct_restore.extract(made, archive)
        except Fail:
            config.remove()
            owner, name = storage.split(made)
            owner.free(name)
            raise
        for key, value in (("arch", "amd64"), ("ostype", "unmanaged"), ("hostname", f"CT{number}"), ("memory", "512"), ("swap", "512")):
            config.values.setdefault(key, value)
        apply(config, found)
        config.values.pop("lock", None)
        config.write()
    return task("vzcreate", number, work)


def make_root(config, found, before=None):
    """A new root; its volume."""
    volid, settings = configuration.split_disk(found.get("rootfs") or f"{found.get('storage', 'local')}:1")
    made = re.fullmatch(r"([\w-]+):(\d+(?:\.\d+)?)", volid)
    name, size = (made.group(1), int(float(made.group(2)) * (1 << 30))) if made else (found.get("storage", "local"), before)
    owner = storage.named(name)
    volid = f"{owner.name}:{allocate(owner, config.number, before or size)}"
    settings["size"] = units.disk(before or size)
    config.values["rootfs"] = configuration.join_disk(volid, settings)
    return volid


def check_free(number):
    place = configuration.where_is(number)
    if place:
        raise Fail(f"CT {number} already exists on node '{place[0]}'", 2)


def restore(arguments):
    words, found = options.parse(arguments, SCHEMA, "pct restore <vmid> <ostemplate> [OPTIONS]")
    return pct_restore.run(words, found)


def destroy(arguments):
    config, _, found = config_of(arguments, "pct destroy <vmid> [OPTIONS]", {"purge": BOOL, "destroy-unreferenced-disks": BOOL, "force": BOOL})
    number = config.number
    if config.get("protection") == "1":
        raise Fail(f"can't remove CT {number} - protection mode enabled")
    if containers.pid(number) and not found.get("force"):
        raise Fail(f"CT {number} is running - destroy failed")

    def work():
        with configuration.lock(config, worker.say):
            config.check_lock()
            containers.stop(config)
            qm_destroy.remove_disks(config, found.get("destroy-unreferenced-disks"))
            registry.forget(number)
            if found.get("purge"):
                worker.say(f"purging CT {number} from related configurations..")
                registry.purge(number)
            config.remove()
    return task("vzdestroy", number, work)


def snapshot(arguments):
    usage = "pct snapshot <vmid> <snapname> [OPTIONS]"
    config, words, found = config_of(arguments, usage, {"description": TEXT})
    qm_snapshots.check_name(words[1], usage)
    return task("vzsnapshot", config.number, lambda: containers.take(config.number, words[1], found.get("description")))


def delsnapshot(arguments):
    config, words, _ = config_of(arguments, "pct delsnapshot <vmid> <snapname> [OPTIONS]", {"force": BOOL})
    return task("vzdelsnapshot", config.number, lambda: containers.throw_away(config.number, words[1]))


def rollback(arguments):
    config, words, found = config_of(arguments, "pct rollback <vmid> <snapname> [OPTIONS]", {"start": BOOL})
    code = task("vzrollback", config.number, lambda: containers.back(config.number, words[1]))
    if code or not found.get("start"):
        return code
    return 255 if containers.power(configuration.load("lxc", config.number), "start").error is not None else 0


def listsnapshot(arguments):
    config, _, _ = config_of(arguments, "pct listsnapshot <vmid>")
    for line in qm_snapshots.listing(config):
        out(line)


def execute(arguments):
    if "--" in arguments:
        arguments = [word for at, word in enumerate(arguments) if at != arguments.index("--")]
    return containers.execute(configuration.load("lxc", int(arguments[0])).number, arguments[1:])


def clone(arguments):
    usage = "pct clone <vmid> <newid> [OPTIONS]"
    config, words, found = config_of(arguments, usage, {"hostname": TEXT, "full": BOOL, "storage": TEXT, "description": TEXT, "pool": TEXT})
    new = options.guest_number(words[1], usage)
    check_free(new)

    def work():
        copy = configuration.Config("lxc", new)
        copy.values = {key: value for key, value in config.values.items() if key not in ("template", "lock", "parent", "protection")}
        copy.values["lock"] = "create"
        copy.write()
        for slot, volid, settings in config.disks():
            worker.say(f"create full clone of mountpoint {slot} ({volid})")
            owner, name = storage.split(volid)
            target = storage.named(found.get("storage", owner.name))
            inner = target.allocate(new, owner.size(name), "disk", worker.say)
            qm_clone.copy_disk(owner.path(name), target.path(inner), owner.size(name))
            copy.values[slot] = configuration.join_disk(f"{target.name}:{inner}", settings)
        copy.values.pop("lock", None)
        copy.values["hostname"] = found.get("hostname", f"Copy-of-CT-{config.name}")
        copy.write()
        if "pool" in found:
            registry.add_to_pool(new, found["pool"])
    return task("vzclone", config.number, work)


def template(arguments):
    config, _, _ = config_of(arguments, "pct template <vmid>")
    with configuration.lock(config):
        for slot, volid, settings in config.disks():
            owner, name = storage.split(volid)
            config.values[slot] = configuration.join_disk(f"{owner.name}:{owner.to_base(name, worker.say)}", settings)
        config.values["template"] = "1"
        config.write()


COMMANDS = {
    "list": list_guests, "status": status, "config": show, "start": power("start"), "stop": power("stop"), "shutdown": power("shutdown"),
    "unlock": unlock, "set": change, "create": create, "restore": restore, "destroy": destroy, "snapshot": snapshot, "delsnapshot": delsnapshot,
    "rollback": rollback, "listsnapshot": listsnapshot, "exec": execute, "clone": clone, "template": template,
}


def run(arguments):
    if not arguments or arguments[0] not in COMMANDS:
        raise Fail("ERROR: no command specified\nUSAGE: pct <COMMAND> [ARGS] [OPTIONS]", 255)
    return COMMANDS[arguments[0]](arguments[1:])


def main():
    command.run(run)
