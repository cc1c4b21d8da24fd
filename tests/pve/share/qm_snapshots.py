"""Snapshots of a guest: taken, gone back to, thrown away, listed."""

import re
import time

import config as configuration
import faults
import guests
import options
import storage
import units
import wire
from failure import Fail
from worker import say

# What belongs to the guest and not to what it was at a time.
OWN = ("lock", "parent", "snaptime", "vmstate", "runningmachine", "runningcpu", "snapstate", "digest", "template", "protection", "description", "tags")
NEVER_IN = ("lock", "parent", "digest", "template", "protection")


def check_name(name, usage):
    if not re.fullmatch(r"[A-Za-z][\w-]{1,39}", name):
        raise options.refused("snapname", f"invalid format - invalid configuration ID '{name}'", usage)
    if name == "current":
        raise options.refused("snapname", "can't use 'current' - reserved name", usage)


def ready(config):
    """Freezes the guest's file systems, where its agent answers."""
    if not config.agent() or wire.pid(config.number) is None:
        return False
    if not guests.answers(config):
        say(f"QEMU Guest Agent is not running - VM {config.number} qmp command 'guest-ping' failed - got timeout")
        return False
    guests.agent(config, "fsfreeze-freeze", timeout=60)
    return True


def save_ram(config, name, section):
    memory = int(config.get("memory", "512")) << 20
    slot = config.boot_disk()
    found, _ = storage.split(configuration.split_disk(config.get(slot))[0])
    state = found.allocate(config.number, 2 * memory + (500 << 20), f"state-{name}", say)
    section["vmstate"] = f"{found.name}:{state}"
    section["runningmachine"] = "pc-i440fx-9.2+pve1"
    section["runningcpu"] = config.get("cpu", "kvm64")
    say(f"saving VM state and RAM using storage '{found.name}'")
    begun, saved, full = time.monotonic(), 0, memory // 8
    second = 0
    say("192.00 B in 0s")
    with open(found.path(state), "r+b") as file:
        import os
        while saved < full:
            piece = os.urandom(1 << 20)
            file.write(piece)
            saved += len(piece)
            time.sleep(faults.number("ram-pace", 0) / (full >> 20))
            if time.monotonic() - begun >= second + 1:
                second += 1
                say(f"{units.size(saved, 2)} in {units.duration(second)}")
    say(f"completed saving the VM state in {units.duration(time.monotonic() - begun)}, saved {units.size(saved, 2)}")


def take(number, name, description, with_ram):
    config = configuration.Config("qemu", number)
    with configuration.lock(config, say):
        config.check_lock()
        if name in config.snapshots:
            raise Fail(f"snapshot name '{name}' already used")
        if config.is_template():
            raise Fail("you can't take a snapshot if it's a template")
        disks = config.disks()
        for _, volume, _ in disks:
            if not storage.split(volume)[0].snapshots:
                raise Fail("snapshot feature is not available")
        section = {key: value for key, value in config.values.items() if key not in NEVER_IN and not configuration.UNUSED.fullmatch(key)}
        if "parent" in config.values:
            section["parent"] = config.get("parent")
        section["snaptime"] = str(int(time.time()))
        section["snapstate"] = "prepare"
        config.snapshots[name] = (section, description)
        config.values["lock"] = "snapshot"
        config.write()
    done = []
    try:
        frozen = ready(config)
        try:
            if with_ram and wire.pid(number) is not None:
                save_ram(config, name, section)
                config.write()
            faults.pause("snapshot-takes")
            for slot, volume, _ in disks:
                found, inner = storage.split(volume)
                if frozen and found.freezes:
                    guests.agent(config, "fsfreeze-thaw", timeout=60)
                say(f"snapshotting 'drive-{slot}' ({volume})")
                found.snapshot(inner, name, say)
                done.append((found, inner))
        finally:
            if frozen:
                guests.agent(config, "fsfreeze-thaw", timeout=60)
    except Fail as failure:
        say("snapshot create failed: starting cleanup")
        undo(config, name, done)
        raise failure
    with configuration.lock(config):
        section = config.snapshots[name][0]
        section.pop("snapstate", None)
        config.values.pop("lock", None)
        config.values["parent"] = name
        config.write()


def undo(config, name, done):
    for found, inner in done:
        found.delete_snapshot(inner, name, say)
    with configuration.lock(config):
        section = config.snapshots.pop(name, ({}, None))[0]
        if "vmstate" in section:
            found, inner = storage.split(section["vmstate"])
            found.free(inner)
        config.values.pop("lock", None)
        config.write()


def back(number, name, then_start):
    """Goes back. A guest that runs is stopped, and runs after that only where its memory was saved, or
    it is asked for. Returns whether it is to be started."""
    config = configuration.Config("qemu", number)
    with configuration.lock(config, say):
        if config.is_template():
            raise Fail("you can't rollback if vm is a template")
        if name not in config.snapshots:
            raise Fail(f"snapshot '{name}' does not exist")
        section = config.snapshots[name][0]
        if "snapstate" in section:
            raise Fail(f"unable to rollback to incomplete snapshot (snapstate = {section['snapstate']})")
        config.check_lock()
        for _, volume, _ in config.disks(section):
            found, inner = storage.split(volume)
            found.check_rollback(inner, name)
        config.values["lock"] = "rollback"
        config.write()
    guests.stop(number)
    faults.pause("rollback-takes")
    for _, volume, _ in config.disks(section):
        found, inner = storage.split(volume)
        found.rollback(inner, name, say)
    with configuration.lock(config):
        kept = {key: config.values[key] for key in ("template", "protection") if key in config.values}
        restored = {key: value for key, value in section.items() if key not in ("snaptime", "vmstate", "runningmachine", "runningcpu")}
        config.values = {**restored, **kept, "parent": name}
        config.write()
    if "vmstate" in section:
        guests.start(config)
    return then_start and "vmstate" not in section


def throw_away(number, name, force):
    config = configuration.Config("qemu", number)
    with configuration.lock(config, say):
        if name not in config.snapshots:
            raise Fail(f"snapshot '{name}' does not exist")
        config.check_lock()
        section = config.snapshots[name][0]
        config.values["lock"] = "snapshot-delete"
        section["snapstate"] = "delete"
        config.write()
    faults.pause("delsnapshot-takes")
    volumes = [volume for _, volume, _ in config.disks(section)]
    for volume in volumes:
        found, inner = storage.split(volume)
        try:
            found.delete_snapshot(inner, name, say)
        except Fail as failure:
            if not force:
                raise
            say(failure.text)
    if "vmstate" in section:
        found, inner = storage.split(section["vmstate"])
        found.free(inner)
    with configuration.lock(config):
        config.snapshots.pop(name, None)
        parent = section.get("parent")
        for values in [config.values] + [other[0] for other in config.snapshots.values()]:
            if values.get("parent") == name:
                values.pop("parent")
                if parent:
                    values["parent"] = parent
        config.values.pop("lock", None)
        config.write()


def in_order(config):
    """Their names, each after its parent, with its depth."""
    found = []

    def below(parent, depth):
        names = [name for name, (values, _) in config.snapshots.items() if values.get("parent") == parent]
        for name in sorted(names, key=lambda name: int(config.snapshots[name][0].get("snaptime", 0))):
            found.append((name, depth))
            below(name, depth + 1)

    below(None, 0)
    return found


def listing(config):
    """The tree that `listsnapshot` prints."""
    rows = []
    depths = dict(in_order(config))
    for name, depth in in_order(config):
        values, description = config.snapshots[name]
        when = units.date(int(values["snaptime"])) if "snaptime" in values else ""
        rows.append((depth, name, when, (description or "no-description").split("\n")[0]))
    depth = depths.get(config.get("parent"), -1) + 1
    rows.append((depth, "current", "", "You are here!"))
    lines = []
    for depth, name, when, text in rows:
        lines.append(f"{' ' * depth}`-> {name:<{max(1, 28 - depth)}}{when:<24}{text}")
    return lines


def objects(config):
    """As the interface tells them."""
    found = []
    for name, (values, description) in config.snapshots.items():
        entry = {"name": name, "description": description or "", "snaptime": int(values.get("snaptime", 0)), "vmstate": int("vmstate" in values)}
        if "parent" in values:
            entry["parent"] = values["parent"]
        if "snapstate" in values:
            entry["snapstate"] = values["snapstate"]
        found.append(entry)
    found.sort(key=lambda entry: entry["name"])
    import hashlib
    current = {"name": "current", "description": "You are here!", "digest": hashlib.sha1(config.text().encode()).hexdigest()}
    if config.kind == "qemu" and wire.pid(config.number) is not None:
        current["running"] = 1
    if "parent" in config.values:
        current["parent"] = config.get("parent")
    return found + [current]
