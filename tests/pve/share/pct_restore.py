"""`pct restore`: a container from an archive. It has no progress."""

import os
import re
import subprocess

import config as configuration
import options
import pbs_trees
import registry
import storage
import trees
import vzdump_lxc
from command import task
from failure import Fail
from worker import say

USAGE = "pct restore <vmid> <ostemplate> [OPTIONS]"
READERS = {".zst": "--zstd", ".gz": "--gzip", ".lzo": "--lzop"}


def run(words, found):
    if len(words) < 2:
        raise Fail(f"400 not enough arguments\n{USAGE}", 255)
    number, archive = options.guest_number(words[0], USAGE), words[1]
    place = configuration.where_is(number)
    if place and not (found.get("force") and place[1] == "lxc"):
        raise Fail(f"CT {number} already exists on node '{place[0]}'", 2)
    if archive.startswith("/") and not os.path.exists(archive):
        raise Fail(f"can't find file '{archive}'", 2)
    return task("vzrestore", number, lambda: work(number, archive, found))


def work(number, archive, found):
    import containers
    import pct
    import qm_destroy
    say(f"recovering backed-up configuration from '{archive}'")
    owner, volume = (None, archive) if archive.startswith("/") else storage.split(archive)
    if owner is not None and not owner.exists(volume):
        raise Fail(f"unable to restore CT {number} - volume '{archive}' does not exist")
    server = owner is not None and owner.kind == "pbs"
    path = None if server else (archive if owner is None else owner.path(volume))
    snapshot = volume.removeprefix("backup/")
    kept = owner.store().read_blob(snapshot, "pct.conf.blob").decode() if server else stored(path, number)
    if configuration.exists("lxc", number):
        before = configuration.load("lxc", number)
        before.check_lock()
        if containers.pid(number):
            raise Fail(f"unable to restore CT {number} - container is running")
        qm_destroy.remove_disks(before, False)
    config = configuration.parse(kept, configuration.Config("lxc", number))
    size = vzdump_lxc.size_of(config.get("rootfs", ""))
    former = config.get("rootfs", "local:").partition(":")[0]
    stand_in = configuration.Config("lxc", number)
    stand_in.values["lock"] = "create"
    stand_in.write()
    made = None
    try:
        made = pct.make_root(config, {"storage": found.get("storage", former), **({"rootfs": found["rootfs"]} if "rootfs" in found else {})}, size)
        say(f"restoring '{archive}' now..")
        if server:
            with trees.mounted([("/", storage.path_of(made))], point_of(number), False) as point:
                pbs_trees.unpack(owner.store(), snapshot, point)
        else:
            extract(made, path)
        say("merging backed-up and given configuration..")
    except Fail as failure:
        if made:
            kind, name = storage.split(made)
            kind.free(name)
        stand_in.remove()
        raise Fail(f"unable to restore CT {number} - {failure.text}") from None
    pct.apply(config, {key: value for key, value in found.items() if key not in ("storage", "unique")})
    if found.get("unique"):
        import qm_settings
        for key in [key for key in config.values if re.fullmatch(r"net\d+", key)]:
            config.values[key] = re.sub(r"hwaddr=[0-9A-Fa-f:]{17}", f"hwaddr={qm_settings.card()}", config.values[key])
    config.values.pop("lock", None)
    config.write()
    if "pool" in found:
        registry.add_to_pool(number, found["pool"])


def point_of(number):
    return f"/var/lib/lxc/{number}/rootfs.new"


def stored(path, number):
    """The configuration in an archive."""
    done = subprocess.run(["tar", "xpOf", path, *reader(path), "./etc/vzdump/pct.conf"], capture_output=True, text=True, check=False)
    if done.returncode and not done.stdout:
        raise Fail(f"unable to restore CT {number} - archive does not contain a configuration file")
    return done.stdout


def reader(path):
    return [option for ending, option in READERS.items() if path.endswith(ending)]


def extract(volid, path):
    number = re.search(r"-(\d+)-disk", volid).group(1)
    say(f"extracting archive '{path}'")
    with trees.mounted([("/", storage.path_of(volid))], point_of(number), False) as point:
        done = subprocess.run(["tar", "xpf", path, *reader(path), "--totals", "--one-top-level=.", "--numeric-owner", "--xattrs", "--exclude=./etc/vzdump/pct.conf", "-C", point],
                              stderr=subprocess.PIPE, text=True, check=False)
        for line in done.stderr.splitlines():
            say(line)
        if done.returncode:
            raise Fail(f"command 'tar xpf - --totals' failed: exit code {done.returncode}")
        for name in ("etc/vzdump",):
            if os.path.isdir(f"{point}/{name}") and not os.listdir(f"{point}/{name}"):
                os.rmdir(f"{point}/{name}")
