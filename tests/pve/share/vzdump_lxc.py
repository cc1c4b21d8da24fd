"""The backup of a container: a tree of files, packed without any progress."""

import os
import re
import subprocess
import time

import blocks
import config as configuration
import containers
import faults
import pbs_trees
import storage
import storage_pbs
import trees
import vzdump_pipe
from failure import Fail, Interrupted
from worker import say


def backup(single):
    config, job = single.config, single.job
    runs = containers.pid(config.number) is not None
    single.info(f"status = {'running' if runs else 'stopped'}")
    mode = job.mode if runs else "stop"
    can = all(storage.split(volid)[0].snapshots for _, volid, _ in config.disks())
    if mode == "snapshot" and not can:
        volumes(single)
        single.info("mode failure - some volumes do not support snapshots")
        single.info("trying 'suspend' mode instead")
        mode = "suspend"
    single.info(f"backup mode: {mode}")
    if job.bwlimit:
        single.info(f"bandwidth limit: {job.bwlimit} KiB/s")
    single.info(f"ionice priority: {job.ionice}")
    kept = volumes(single)
    config.check_lock()
    with_lock(config, "backup")
    try:
        copy(single, mode, kept, runs)
    finally:
        with_lock(config, None)


def volumes(single):
    """What goes into it, and what does not."""
    config = single.config
    single.info(f"CT Name: {config.name}")
    kept, left = trees.of(config)
    for slot, place, _ in kept:
        single.info(f"including mount point {slot} ('{place}') in backup")
    for slot, place in left:
        single.info(f"excluding volume mount point {slot} ('{place}') from backup (disabled)")
    for slot, place in trees.binds(config):
        single.info(f"excluding bind mount point {slot} ('{place}') from backup (not a volume)")
    return kept


def with_lock(config, lock):
    with configuration.lock(config, say):
        if lock:
            config.values["lock"] = lock
        else:
            config.values.pop("lock", None)
        config.write()


def copy(single, mode, kept, runs):
    config = single.config
    images, held = [(place, path) for _, place, path in kept], []
    begun = time.monotonic()
    if runs and mode == "stop":
        single.info("stopping virtual guest")
        containers.stop(config, True)
        single.finish = lambda: restart(single, begun)
    elif runs and mode == "suspend":
        folder = "/var/tmp/vzdumptmp" + str(os.getpid()) if single.to_server else single.path(".tmp")
        single.info(f"starting first sync /proc/{containers.pid(config.number)}/root/ to {folder}")
        single.info(f"first sync finished - transferred {containers.sync(config.number)} bytes in {int(time.monotonic() - begun)}s")
        single.info("suspending guest")
    elif runs:
        single.info("create storage snapshot 'vzdump'")
        containers.sync(config.number)
        single.finish = lambda: single.info("cleanup temporary 'vzdump' snapshot")
    if runs and mode != "stop":
        # What the container writes from here on is in none of them.
        held = [blocks.still(path) for _, path in images]
        images = [(place, f"/proc/{os.getpid()}/fd/{file}") for (place, _), file in zip(images, held)]
    if runs and mode == "suspend":
        single.info(f"starting final sync /proc/{containers.pid(config.number)}/root/ to {folder}")
        single.info("final sync finished - transferred 0 bytes in 0s")
        single.info("resuming guest")
        single.info(f"guest is online again after {int(time.monotonic() - begun)} seconds")
    name_target(single)
    try:
        with trees.mounted(images, f"/mnt/vzsnap{config.number}", True) as point:
            (to_server if single.to_server else to_file)(single, point)
    finally:
        for file in held:
            os.close(file)


def restart(single, begun):
    single.info("restarting vm")
    containers.start(single.config)
    single.info(f"guest is online again after {int(time.monotonic() - begun)} seconds")


def name_target(single):
    if single.to_server:
        single.info(f"creating Proxmox Backup Server archive '{storage_pbs.snapshot_of(single)}'")
    elif single.job.storage is None:
        single.info("sending archive to stdout")
    else:
        single.info(f"creating vzdump archive '{single.archive()}'")


def conf_text(config):
    values = {key: value for key, value in config.values.items() if key not in ("lock", "parent")}
    return configuration.section_text(values, config.description)


def to_file(single, point):
    """`tar` says at the end how much that was."""
    folder = single.path(".tmp")
    os.makedirs(f"{folder}/etc/vzdump")
    try:
        with open(f"{folder}/etc/vzdump/pct.conf", "w", encoding="utf-8") as file:
            file.write(conf_text(single.config))
        with vzdump_pipe.target(single, None) as pipe:
            faults.pause("backup-pace")
            process = subprocess.Popen(
                ["tar", "cpf", "-", "--totals", "--one-file-system", "--numeric-owner", "--xattrs", "--sparse", "--warning=no-file-ignored",
                 f"--directory={folder}", "./etc/vzdump/pct.conf", f"--directory={point}", "--no-anchored", "--exclude=lost+found", "--anchored",
                 "--exclude=./tmp/?*", "--exclude=./var/tmp/?*", "--exclude=./var/run/?*.pid", "."],
                stdout=pipe.file, stderr=subprocess.PIPE)
            try:
                said = process.communicate()[1].decode(errors="replace")
            except Interrupted:
                process.kill()
                process.wait()
                raise
            for line in said.splitlines():
                single.info(line)
            if process.returncode:
                raise Fail(f"command 'tar cpf - --totals' failed: exit code {process.returncode}")
    finally:
        subprocess.run(["rm", "-rf", folder], check=False)


def to_server(single, point):
    owner = single.job.storage
    name = storage_pbs.snapshot_of(single)
    single.info(f"run: /usr/bin/proxmox-backup-client backup --crypt-mode=none pct.conf:/var/tmp/vzdumptmp{os.getpid()}/etc/vzdump/pct.conf "
                f"root.pxar:{point} --include-dev {point}/./ --skip-lost-and-found --backup-type ct --backup-id {single.config.number} "
                f"--backup-time {int(single.begun)} --repository {owner.repository()}")
    pbs_trees.send(single, owner, name, point, conf_text(single.config))


def size_of(text):
    """The bytes of a root in a configuration."""
    import units
    found = re.search(r"size=([\d.]+[KMGT]?)", text)
    return units.parse_disk(found.group(1)) if found else 1 << 30
