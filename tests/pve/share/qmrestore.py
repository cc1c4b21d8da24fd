"""`qmrestore`: a guest from an archive."""

import os
import re
import subprocess
import time

import command
import config as configuration
import faults
import options
import qm_destroy
import qm_settings
import registry
import storage
import units
import wire
from failure import Fail, Interrupted
from options import BOOL, INT, TEXT
from worker import say

USAGE = "qmrestore <archive> <vmid> [OPTIONS]"
SCHEMA = {"storage": TEXT, "force": BOOL, "unique": BOOL, "bwlimit": INT, "live-restore": BOOL, "pool": TEXT, "start": BOOL}
READERS = {".zst": "zstd -q -d -c", ".gz": "zcat", ".lzo": "lzop -d -c"}
# How long it waits for an archive's header.
HEADER = 60


def run(arguments):
    words, found = options.parse(arguments, SCHEMA, USAGE)
    if len(words) < 2:
        raise Fail(f"400 not enough arguments\n{USAGE}", 255)
    archive, number = words[0], options.guest_number(words[1], USAGE)
    owner, volume = check_archive(archive)
    place = configuration.where_is(number)
    if place and not (found.get("force") and place == (configuration.node(), "qemu")):
        raise Fail(f"unable to restore VM {number} - VM {number} already exists on node '{place[0]}'")
    if found.get("storage"):
        storage.named(found["storage"])
    restore = Restore(archive, owner, volume, number, found)
    return command.task("qmrestore", number, restore.run)


def check_archive(archive):
    if archive.startswith("/"):
        if not os.path.isfile(archive):
            raise Fail(f"can't find file '{archive}'", 2)
        return None, archive
    owner, volume = storage.split(archive)
    if owner.kind != "pbs" and not os.path.isfile(owner.path(volume)):
        raise Fail(f"volume '{archive}' does not exist", 2)
    return owner, volume


class Restore:
    def __init__(self, archive, owner, volume, number, found):
        self.archive, self.owner, self.volume = archive, owner, volume
        self.number, self.found = number, found
        # What was made: storage, volume.
        self.made = []

    def run(self):
        try:
            self.begin()
            if self.owner is not None and self.owner.kind == "pbs":
                import qmrestore_pbs
                qmrestore_pbs.run(self)
            else:
                self.from_file()
        except Interrupted as failure:
            self.failed()
            raise failure
        except Fail as failure:
            self.failed()
            raise failure
        say("rescan volumes...")
        self.rescan()
        if "pool" in self.found:
            registry.add_to_pool(self.number, self.found["pool"])

    def rescan(self):
        """What volumes came to that could not be made of the size that was asked for."""
        for slot, volid, settings in self.config.disks():
            owner, volume = storage.split(volid)
            size = units.disk(owner.size(volume))
            if size != settings.get("size"):
                say(f"VM {self.number} ({slot}): size of disk '{volid}' updated from {settings.get('size')} to {size}")
                settings["size"] = size
                self.config.values[slot] = configuration.join_disk(volid, settings)
                self.config.write()

    def failed(self):
        """What was made goes; the configuration that stands for the guest stays."""
        for owner, volume in self.made:
            owner.free(volume)
            say(f"temporary volume '{owner.name}:{volume}' successfully removed")
        if self.made and (self.owner is None or self.owner.kind != "pbs"):
            say("no lock found trying to remove 'create'  lock")
        say("error before or during data restore, some or all disks were not completely restored. "
            f"VM {self.number} state is NOT cleaned up.")

    def begin(self):
        """The number is taken. What was there under it is gone before any data has come."""
        if configuration.exists("qemu", self.number):
            before = configuration.load("qemu", self.number)
            if before.get("protection") == "1":
                raise Fail(f"unable to restore VM {self.number} - - protection mode enabled")
            if wire.pid(self.number) is not None:
                raise Fail(f"unable to restore VM {self.number} - vm is running")
            before.check_lock()
            self.before = before
        else:
            self.before = None
            self.stand_in("")

    before = None

    def stand_in(self, text):
        config = configuration.Config("qemu", self.number)
        if text:
            config.values["memory"] = text
        config.write()

    def from_file(self):
        path = self.owner.path(self.volume) if self.owner is not None else self.volume
        reader = next((program for ending, program in READERS.items() if path.endswith(ending)), None)
        limit = self.found.get("bwlimit")
        folder = f"/var/tmp/vzdumptmp{os.getpid()}"
        source = path if reader is None and not limit else "-"
        parts = [f"vma extract -v -r {folder}.fifo {source} {folder}"]
        if reader:
            parts.insert(0, f"{reader} {'-' if limit else path}")
        if limit:
            say(f"applying read rate limit: {limit}")
            parts.insert(0, f"cstream -t {limit * 1024} -- {path}")
        self.check_early(path, reader)
        line = " | ".join(parts)
        say(f"restore vma archive: {line}")
        self.call = f"set -o pipefail && {line}"
        os.makedirs(folder, exist_ok=True)
        os.mkfifo(f"{folder}.fifo")
        try:
            self.extract(folder)
        finally:
            subprocess.run(["rm", "-rf", folder, f"{folder}.fifo"], check=False)

    def check_early(self, path, reader):
        """Its configuration is looked at before anything is done."""
        line = f"{reader} {path} | vma config -" if reader else f"vma config {path}"
        done = subprocess.run(["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode not in (0, 133, -13) and b"wrong magic" in done.stderr or b"wrong magic" in done.stderr:
            say(done.stderr.decode(errors="replace").splitlines()[0])
            say(f"Could not extract backed up config: command 'vma config {path}' failed: got signal 5\n\nSkipping early checks!")

    def extract(self, folder):
        fifo = f"{folder}.fifo"
        # What the programs say goes through here, for the line that the header ends with.
        process = subprocess.Popen(
            ["/bin/bash", "-c", self.call], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=False,
        )
        try:
            self.pass_on(process, folder, fifo)
        except Interrupted:
            self.kill(process)
            raise Interrupted(f"command '{self.call}' failed: interrupted by signal") from None
        code = process.wait()
        if code:
            # A pipe's last program ended by that signal; a lone one was it itself.
            how = f"got signal {-code}" if code < 0 else "got signal 5" if "|" not in self.call and code == 133 else f"exit code {code}"
            raise Fail(f"command '{self.call}' failed: {how}")
        self.finish()

    def kill(self, process):
        process.kill()
        subprocess.run(["pkill", "-KILL", "-P", str(process.pid)], check=False)
        process.wait()

    def pass_on(self, process, folder, fifo):
        waiting, header = b"", True
        import select
        until = time.monotonic() + faults.number("header-wait", HEADER)
        while True:
            if header and not select.select([process.stdout], [], [], 0.2)[0]:
                if time.monotonic() > until:
                    self.kill(process)
                    raise Fail(f"command '{self.call}' failed: got timeout reading VMA header - corrupted?")
                continue
            data = os.read(process.stdout.fileno(), 4096)
            if not data:
                if header and process.wait() and b"magic" in waiting:
                    # Nobody writes to it, and it is waited for.
                    time.sleep(max(0, until - time.monotonic()))
                    raise Fail(f"command '{self.call}' failed: got timeout reading VMA header - corrupted?")
                return
            if not header:
                os.write(1, data)
                continue
            waiting += data
            if b"CTIME: " in waiting and waiting.endswith(b"\n"):
                os.write(1, waiting)
                header = False
                self.prepare(waiting.decode(), folder, fifo)

    def prepare(self, text, folder, fifo):
        """The header is there: the disks are made, and where they are is told."""
        with open(f"{folder}/qemu-server.conf", encoding="utf-8") as file:
            maps = self.read_config(file.read())
        self.check_targets(maps)
        if self.before is not None:
            qm_destroy.remove_disks(self.before, False)
        self.stand_in("128")
        lines = []
        for size, name in re.findall(r"DEV: dev_id=\d+ size: (\d+) devname: drive-(\w+)", text):
            owner = self.target(maps.get(name))
            limit = self.found.get("bwlimit")
            if limit:
                say(f"rate limit for storage {owner.name}: {limit} KiB/s")
            volume = self.allocate(owner, name, int(size))
            lines.append(f"format=raw:{owner.writes_zeros}:drive-{name}={owner.path(volume)}\n")
        with open(fifo, "w", encoding="utf-8") as file:
            file.write("".join(lines) + "done\n")

    def read_config(self, kept):
        """What the archive says of the guest; returns the storage of each disk."""
        self.config = configuration.parse(kept, configuration.Config("qemu", self.number))
        lines = (self.config.description or "").split("\n")
        self.config.description = "\n".join(line for line in lines if not line.startswith("qmdump#map:")) or None
        return dict(re.findall(r"^#qmdump#map:(\w+):drive-\w+:([\w-]+):", kept, re.M))

    def check_targets(self, maps):
        for name in set(maps.values()):
            self.target(name)

    def target(self, name):
        owner = storage.named(self.found.get("storage") or name or "local")
        if "images" not in owner.content():
            raise Fail(f"storage '{owner.name}' does not support vm images")
        return owner

    def allocate(self, owner, slot, size):
        volume = owner.allocate(self.number, size, "disk", say)
        self.made.append((owner, volume))
        say(f"new volume ID is '{owner.name}:{volume}'")
        settings = configuration.split_disk(self.config.get(slot, ""))[1]
        settings["size"] = units.disk(size)
        self.config.values[slot] = configuration.join_disk(f"{owner.name}:{volume}", settings)
        return volume

    def finish(self):
        """The real configuration takes the place of the one that stood for it."""
        with open("/proc/sys/kernel/random/uuid", encoding="ascii") as file:
            self.config.values["vmgenid"] = file.read().strip()
        self.config.values.pop("lock", None)
        if self.found.get("unique"):
            for key in [key for key in self.config.values if re.fullmatch(r"net\d+", key)]:
                self.config.values[key] = re.sub(r"=([0-9A-Fa-f:]{17})", f"={qm_settings.card()}", self.config.values[key])
            with open("/proc/sys/kernel/random/uuid", encoding="ascii") as file:
                self.config.values["smbios1"] = f"uuid={file.read().strip()}"
        self.made = []
        self.config.write()


def main():
    command.run(run)
