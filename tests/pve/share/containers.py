"""Containers: how they run, and their snapshots. What runs in one runs on its root, with processes of
its own."""

import contextlib
import os
import signal
import subprocess
import time

import config as configuration
import faults
import processes
import storage
import worker
from failure import Fail


def pid(number):
    """Its first process; nothing where it does not run."""
    return processes.named(f"/run/lxc/{number}.pid", f"/usr/bin/lxc-start -F -n {number}")


def root(number):
    """Where its root is, inside its namespaces."""
    return f"/var/lib/lxc/{number}/rootfs"


def start(config):
    if pid(config.number):
        raise Fail(f"CT {config.number} already running")
    if config.is_template():
        raise Fail("you can't start a CT if it's a template")
    for _, volid, _ in config.disks():
        storage.check(volid)
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child", "/usr/bin/lxc-start", "-F", "-n", str(config.number)],
        stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True, close_fds=True)
    until = time.monotonic() + 30
    while pid(config.number) is None:
        if process.poll() is not None or time.monotonic() > until:
            raise Fail(f"startup for container '{config.number}' failed")
        time.sleep(0.01)


def stop(config, gently=False):
    found = pid(config.number)
    if found is None:
        return
    os.kill(found, signal.SIGTERM)
    until = time.monotonic() + 10
    while pid(config.number) is not None and time.monotonic() < until:
        time.sleep(0.02)
    if pid(config.number) is not None:
        os.kill(found, signal.SIGKILL)
    # Its mounts go with its last process.
    while os.path.exists(f"/proc/{found}") and time.monotonic() < until + 5:
        time.sleep(0.02)
    if gently:
        faults.pause("shutdown")


def power(config, verb):
    works = {"start": ("vzstart", lambda: start(config)), "stop": ("vzstop", lambda: stop(config)),
             "shutdown": ("vzshutdown", lambda: stop(config, True))}
    if verb not in works:
        raise Fail(f"no such resource '{verb}'")
    kind, work = works[verb]

    def checked():
        with configuration.lock(config, worker.say):
            config.check_lock()
            work()
    return worker.run(kind, config.number, checked)


def execute(number, command):
    """In a container that runs; the exit status."""
    found = pid(number)
    if found is None:
        raise Fail(f"Error: container '{number}' not running!")
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM": os.environ.get("TERM", "linux"), "container": "lxc"}
    call = ["nsenter", "--target", str(found), "--mount", "--pid", "--uts", "--", "chroot", root(number), *command]
    return subprocess.run(call, env=environment, check=False).returncode & 255


# Snapshots: as of machines, and nothing is printed.


def take(number, name, description):
    config = configuration.Config("lxc", number)
    with configuration.lock(config, worker.say):
        config.check_lock()
        if name in config.snapshots:
            raise Fail(f"snapshot name '{name}' already used")
        for _, volid, _ in config.disks():
            if not storage.split(volid)[0].snapshots:
                raise Fail("snapshot feature is not available")
        section = {key: value for key, value in config.values.items() if key not in ("lock", "template", "protection")}
        section["snaptime"] = str(int(time.time()))
        if pid(number):
            sync(number)
        for _, volid, _ in config.disks():
            owner, volume = storage.split(volid)
            owner.snapshot(volume, name, worker.say)
        config.snapshots[name] = (section, description)
        config.values["parent"] = name
        config.write()


def sync(number):
    """Writes what it has not written yet; returns the bytes that it has in all."""
    inside = ["nsenter", "--target", str(pid(number)), "--mount", "--"]
    subprocess.run([*inside, "sync", "-f", root(number)], check=False)
    done = subprocess.run([*inside, "du", "-sbx", root(number)], capture_output=True, text=True, check=False)
    return done.stdout.split("\t")[0]


@contextlib.contextmanager
def at(number, name):
    """A container that nobody else is at work on, a snapshot of it, and the volumes that it has."""
    config = configuration.Config("lxc", number)
    with configuration.lock(config, worker.say):
        if name not in config.snapshots:
            raise Fail(f"snapshot '{name}' does not exist")
        section = config.snapshots[name][0]
        config.check_lock()
        yield config, section, [storage.split(volid) for _, volid, _ in config.disks(section)]


def back(number, name):
    with at(number, name) as (config, section, volumes):
        for owner, volume in volumes:
            owner.check_rollback(volume, name)
        stop(config)
        for owner, volume in volumes:
            owner.rollback(volume, name, worker.say)
        config.values = {**{key: value for key, value in section.items() if key != "snaptime"}, "parent": name}
        config.write()


def throw_away(number, name):
    with at(number, name) as (config, section, volumes):
        for owner, volume in volumes:
            owner.delete_snapshot(volume, name, worker.say)
        del config.snapshots[name]
        for values in [config.values] + [other for other, _ in config.snapshots.values()]:
            if values.get("parent") == name:
                values.pop("parent")
                if "parent" in section:
                    values["parent"] = section["parent"]
        config.write()


def change(arguments):
    import pct
    return pct.change(arguments)
