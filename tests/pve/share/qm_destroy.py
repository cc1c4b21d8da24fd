"""`qm destroy`: the guest's disks and its configuration, and with `--purge` what else names it."""

import config as configuration
import faults
import options
import registry
import storage
import wire
from command import task
from failure import Fail
from options import BOOL
from worker import say


def destroy(arguments):
    usage = "qm destroy <vmid> [OPTIONS]"
    schema = {"purge": BOOL, "destroy-unreferenced-disks": BOOL, "skiplock": BOOL}
    words, found = options.parse(arguments, schema, usage)
    if not words:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    config = configuration.load("qemu", options.guest_number(words[0], usage))
    check(config, found)
    return task("qmdestroy", config.number, lambda: work(config, found))


def check(config, found):
    """What is found before the task begins."""
    number = config.number
    if config.get("protection") == "1":
        raise Fail(f"can't remove VM {number} - protection mode enabled")
    if wire.pid(number) is not None:
        raise Fail(f"VM {number} is running - destroy failed", 25)
    if registry.is_ha_managed(number) and not found.get("purge"):
        raise Fail(f"unable to remove VM {number} - used in HA resources and purge parameter not set.")
    if registry.replications(number) and not found.get("purge"):
        raise Fail(f"unable to remove VM {number} - used in replication jobs and purge parameter not set.")


def work(config, found):
    with configuration.lock(config, say):
        config.check_lock(found.get("skiplock"))
        if config.is_template():
            check_clones(config)
        # The configuration goes on naming what is already freed.
        remove_disks(config, found.get("destroy-unreferenced-disks"))
        config.values, config.snapshots, config.description = {"lock": "destroyed"}, {}, None
        config.write()
        registry.forget(config.number)
        if found.get("purge"):
            say(f"purging VM {config.number} from related configurations..")
            registry.purge(config.number)
        config.remove()


def check_clones(config):
    for volid in config.volumes():
        owner, volume = storage.split(volid)
        base = volume.rpartition("/")[2]
        for name, *_ in owner.images():
            if f"{base}/vm-" in name:
                raise Fail(f"base volume '{volid}' is still in use by linked clones")


def remove_disks(config, unreferenced):
    """All that the configuration names: also what is in no slot, and what snapshots hold."""
    for freed, volid in enumerate(config.volumes()):
        faults.die_at("destroy-dies", freed)
        try:
            owner, volume = storage.split(volid)
            owner.free(volume)
        except (Fail, FileNotFoundError) as error:
            say(f"Could not remove disk '{volid}', check manually: {error}")
    if not unreferenced:
        return
    for owner in storage.every():
        if "images" not in owner.content() or not owner.is_enabled():
            continue
        for name, number, *_ in owner.images():
            if number == config.number:
                owner.free(name)
