"""`qm`: what is done with guests by hand."""


import command
import config as configuration
import guests
import options
import qm_agent
import qm_clone
import qm_destroy
import qm_settings
import qm_snapshots
import storage
import units
import wire
from command import out, task
from failure import Fail
from options import BOOL, INT, TEXT

LIST = f"{'VMID':>10} {'NAME':<20} {'STATUS':<10} {'MEM(MB)':<10} {'BOOTDISK(GB)':>12} {'PID':<10}"


def number_of(words, usage, at=0):
    if len(words) <= at:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    return options.guest_number(words[at], usage)


def list_guests(arguments):
    options.parse(arguments, {"full": BOOL}, "qm list  [OPTIONS]")
    numbers = configuration.numbers("qemu")
    if numbers:
        out(LIST)
    for number in numbers:
        config = configuration.load("qemu", number)
        pid = wire.pid(number) or 0
        size = config.size_of(config.boot_disk()) / (1 << 30) if config.boot_disk() else 0
        status = "running" if pid else "stopped"
        out(f"{number:>10} {config.name:<20} {status:<10} {config.get('memory', '512'):<10} {size:>12.2f} {pid:<10}")


def status(arguments):
    usage = "qm status <vmid> [OPTIONS]"
    words, found = options.parse(arguments, {"verbose": BOOL}, usage)
    config = configuration.load("qemu", number_of(words, usage))
    if not found.get("verbose"):
        out(f"status: {'running' if wire.pid(config.number) else 'stopped'}")
        return
    import inventory
    tree(inventory.current(config), 0)


def tree(values, depth):
    for key in sorted(values):
        value = values[key]
        if isinstance(value, dict):
            out("\t" * depth + f"{key}:")
            tree(value, depth + 1)
        else:
            out("\t" * depth + f"{key}: {value if value != [] else ''}".rstrip())


def show(arguments):
    usage = "qm config <vmid> [OPTIONS]"
    words, found = options.parse(arguments, {"current": BOOL, "snapshot": TEXT}, usage)
    config = configuration.load("qemu", number_of(words, usage))
    values, description = config.values, config.description
    if "snapshot" in found:
        if found["snapshot"] not in config.snapshots:
            raise Fail(f"snapshot '{found['snapshot']}' does not exist", 2)
        values, description = config.snapshots[found["snapshot"]]
    if description:
        values = {**values, "description": description.replace("\n", "%0A")}
    for key in sorted(values):
        out(f"{key}: {values[key]}")


def pending(arguments):
    usage = "qm pending <vmid>"
    config = configuration.load("qemu", number_of(options.parse(arguments, {}, usage)[0], usage))
    for key in sorted(config.values):
        out(f"cur {key}: {config.values[key]}")


def unlock(arguments):
    usage = "qm unlock <vmid>"
    config = configuration.load("qemu", number_of(options.parse(arguments, {}, usage)[0], usage))
    with configuration.lock(config):
        config.values.pop("lock", None)
        config.write()


def start(arguments):
    usage = "qm start <vmid> [OPTIONS]"
    words, found = options.parse(arguments, {"skiplock": BOOL, "timeout": INT}, usage)
    config = configuration.load("qemu", number_of(words, usage))

    def work():
        with configuration.lock(config):
            config.check_lock(found.get("skiplock"))
            guests.start(config)

    return task("qmstart", config.number, work)


def stop(arguments):
    usage = "qm stop <vmid> [OPTIONS]"
    words, found = options.parse(arguments, {"skiplock": BOOL, "timeout": INT, "keepActive": BOOL, "overrule-shutdown": BOOL}, usage)
    config = configuration.load("qemu", number_of(words, usage))

    def work():
        with configuration.lock(config):
            config.check_lock(found.get("skiplock"))
            guests.stop(config.number)

    return task("qmstop", config.number, work)


def shutdown(arguments):
    usage = "qm shutdown <vmid> [OPTIONS]"
    schema = {"skiplock": BOOL, "timeout": INT, "keepActive": BOOL, "forceStop": BOOL}
    words, found = options.parse(arguments, schema, usage)
    config = configuration.load("qemu", number_of(words, usage))

    def work():
        config.check_lock(found.get("skiplock"))
        guests.shutdown(config, found.get("timeout", 180), found.get("forceStop"))

    return task("qmshutdown", config.number, work)


def reboot(arguments):
    usage = "qm reboot <vmid> [OPTIONS]"
    words, found = options.parse(arguments, {"timeout": INT}, usage)
    config = configuration.load("qemu", number_of(words, usage))

    def work():
        config.check_lock()
        if wire.pid(config.number) is None:
            raise Fail("VM not running")
        guests.shutdown(config, found.get("timeout", 180), False)
        guests.start(config)

    return task("qmreboot", config.number, work)


def reset(arguments):
    usage = "qm reset <vmid> [OPTIONS]"
    config = configuration.load("qemu", number_of(options.parse(arguments, {"skiplock": BOOL}, usage)[0], usage))

    def work():
        if wire.pid(config.number) is None:
            raise Fail(f"VM {config.number} not running")
        guests.stop(config.number)
        guests.start(config)

    return task("qmreset", config.number, work)


def snapshot(arguments):
    usage = "qm snapshot <vmid> <snapname> [OPTIONS]"
    words, found = options.parse(arguments, {"description": TEXT, "vmstate": BOOL}, usage)
    number = number_of(words, usage)
    if len(words) < 2:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    qm_snapshots.check_name(words[1], usage)
    configuration.load("qemu", number)
    return task("qmsnapshot", number, lambda: qm_snapshots.take(number, words[1], found.get("description"), found.get("vmstate")))


def delsnapshot(arguments):
    usage = "qm delsnapshot <vmid> <snapname> [OPTIONS]"
    words, found = options.parse(arguments, {"force": BOOL}, usage)
    number = number_of(words, usage)
    configuration.load("qemu", number)
    return task("qmdelsnapshot", number, lambda: qm_snapshots.throw_away(number, words[1], found.get("force")))


def rollback(arguments):
    usage = "qm rollback <vmid> <snapname> [OPTIONS]"
    words, found = options.parse(arguments, {"start": BOOL}, usage)
    number = number_of(words, usage)
    config = configuration.load("qemu", number)
    return roll_back(config, words[1], found.get("start"))


def roll_back(config, name, then_start):
    """Two tasks where it is to be started after that."""
    with_ram = "vmstate" in config.snapshots.get(name, ({},))[0]
    code = task("qmrollback", config.number, lambda: qm_snapshots.back(config.number, name, then_start))
    if code or not then_start or with_ram:
        return code
    return task("qmstart", config.number, lambda: guests.start(configuration.load("qemu", config.number)))


def listsnapshot(arguments):
    usage = "qm listsnapshot <vmid>"
    config = configuration.load("qemu", number_of(options.parse(arguments, {}, usage)[0], usage))
    for line in qm_snapshots.listing(config):
        out(line)


def resize(arguments):
    usage = "qm resize <vmid> <disk> <size> [OPTIONS]"
    words, _ = options.parse(arguments, {"skiplock": BOOL}, usage)
    if len(words) < 3:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    config = configuration.load("qemu", number_of(words, usage))
    return task("resize", config.number, lambda: grow(config, words[1], words[2]))


def grow(config, slot, text):
    with configuration.lock(config):
        config.check_lock()
        if slot not in config.values:
            raise Fail(f"disk '{slot}' does not exist")
        volid, settings = configuration.split_disk(config.get(slot))
        found, volume = storage.split(volid)
        before = found.size(volume)
        size = before + units.parse_disk(text[1:]) if text.startswith("+") else units.parse_disk(text)
        if size < before:
            raise Fail("shrinking disks is not supported")
        if wire.pid(config.number) is not None:
            raise Fail("VM is running: this node grows disks of stopped guests only")
        found.resize(volume, size)
        settings["size"] = units.disk(size)
        config.values[slot] = configuration.join_disk(volid, settings)
        config.write()


COMMANDS = {
    "list": list_guests, "status": status, "config": show, "pending": pending, "unlock": unlock, "start": start,
    "stop": stop, "shutdown": shutdown, "reboot": reboot, "reset": reset, "snapshot": snapshot,
    "delsnapshot": delsnapshot, "rollback": rollback, "listsnapshot": listsnapshot, "resize": resize,
    "set": qm_settings.change, "create": qm_settings.create, "destroy": qm_destroy.destroy, "clone": qm_clone.clone,
    "template": qm_clone.template, "agent": qm_agent.agent, "guest": qm_agent.guest,
}


def run(arguments):
    if not arguments:
        raise Fail("ERROR: no command specified\nUSAGE: qm <COMMAND> [ARGS] [OPTIONS]", 255)
    found = COMMANDS.get(arguments[0])
    if found is None:
        raise Fail(f"ERROR: unknown command 'qm {arguments[0]}'\nUSAGE: qm <COMMAND> [ARGS] [OPTIONS]", 255)
    return found(arguments[1:])


def main():
    command.run(run)
