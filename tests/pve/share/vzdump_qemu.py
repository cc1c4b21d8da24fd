"""The backup of a virtual machine: its configuration and the blocks of its disks."""

import contextlib
import os
import time

import blocks
import config as configuration
import faults
import guests
import storage
import units
import vma
import vzdump_pipe
import wire
from failure import Fail, Interrupted
from units import size as sized
from worker import say


def uuid():
    with open("/proc/sys/kernel/random/uuid", encoding="ascii") as file:
        return file.read().strip()


def backup(single):
    config, job = single.config, single.job
    runs = wire.pid(config.number) is not None
    single.info(f"status = {'running' if runs else 'stopped'}")
    mode = job.mode if runs else "stop"
    told = [f"backup mode: {mode}"]
    if job.bwlimit:
        told.append(f"bandwidth limit: {job.bwlimit} KiB/s")
    told.append(f"ionice priority: {job.ionice}")
    with locked(config):
        cancel_left_over(config, runs)
        if mode == "stop":
            for line in told:
                single.info(line)
        single.info(f"VM Name: {config.name}")
        disks = included(single)
        if mode != "stop":
            for line in told:
                single.info(line)
        if config.snapshots:
            single.info("snapshots found (not included into backup)")
        copied = Copy(single, disks, runs)
        try:
            copied.run(mode)
        finally:
            copied.close()


@contextlib.contextmanager
def locked(config):
    """The guest is locked while it is copied."""
    with configuration.lock(config, say):
        config.check_lock()
        config.values["lock"] = "backup"
        config.write()
    try:
        yield
    finally:
        with configuration.lock(config, say):
            config.values.pop("lock", None)
            config.write()


def cancel_left_over(config, runs):
    if runs and wire.ask(config.number, ("info",))["backup"]:
        import worker
        worker.warn("left-over backup job still running inside QEMU - canceling now")
        wire.ask(config.number, ("backup-end",))


def included(single):
    """Slot, volume and path of each disk that goes into it."""
    found = []
    for slot, volid, settings in single.config.disks():
        if settings.get("backup") == "0":
            single.info(f"exclude disk '{slot}' '{volid}' (backup=no)")
            continue
        shown = settings.get("size", "0")
        single.info(f"include disk '{slot}' '{volid}' {shown}")
        storage.check(volid)
        found.append((slot, volid, storage.path_of(volid)))
    for key, value in sorted(single.config.values.items()):
        if configuration.UNUSED.fullmatch(key):
            single.info(f"skip unused drive '{value}' (not included into backup)")
    return found


class Copy:
    """The copying itself."""

    def __init__(self, single, disks, runs):
        self.single, self.disks, self.runs = single, disks, runs
        self.config, self.number = single.config, single.config.number
        self.files = {}
        self.folder = None
        self.in_guest = False
        # Images that take what a guest writes meanwhile: storage and volume.
        self.fleeces = []

    def run(self, mode):
        single = self.single
        if mode == "stop" and self.runs:
            self.stop_guest()
        elif mode == "suspend":
            single.info("suspending guest")
            wire.ask(self.number, ("pause",))
        self.paused = time.monotonic()
        self.name_target()
        if mode == "stop":
            single.info("starting kvm to execute backup task")
            if self.runs:
                guests.start(self.config)
        if mode == "snapshot" and self.runs:
            self.freeze()
        else:
            if mode == "suspend" and self.config.agent():
                time.sleep(3)
                single.info("skipping guest-agent 'fs-freeze', agent configured but not running?")
            self.open_disks()
        self.attach_fleeces(mode)
        self.mark(uuid())
        single.info(f"started backup task '{self.mark_name}'")
        if self.runs:
            waited = int(time.monotonic() - self.paused)
            single.info("resuming VM again" + (f" after {waited} seconds" if mode != "snapshot" else ""))
            if mode == "suspend":
                wire.ask(self.number, ("resume",))
        try:
            self.copy()
        except (Fail, OSError) as failure:
            self.abort(failure)
        if mode == "suspend":
            single.info("resume vm")
        if not self.runs:
            single.info("stopping kvm after backup task")
        if self.in_guest:
            wire.ask(self.number, ("backup-end",))
            self.in_guest = False

    def stop_guest(self):
        single = self.single
        single.info("stopping virtual guest")
        limit = single.job.stopwait * 60
        call = f"qm shutdown {self.number} --skiplock --keepActive --timeout {limit}"
        import worker
        done = worker.run("qmshutdown", str(self.number), lambda: guests.shutdown(self.config, limit, False))
        if done.error is not None:
            raise Fail(f"command '{call}' failed: exit code 255")

    def name_target(self):
        single = self.single
        if single.job.storage is None:
            single.info("sending archive to stdout")
        elif single.to_server:
            self.snapshot = f"vm/{self.number}/{units.utc(int(single.begun))}"
            single.info(f"creating Proxmox Backup Server archive '{self.snapshot}'")
        else:
            single.info(f"creating vzdump archive '{single.archive()}'")
            self.folder = single.path(".tmp")
            os.makedirs(self.folder)

    def freeze(self):
        """The disks are as they are between the two."""
        single = self.single
        if not self.config.agent():
            self.open_disks()
            return
        if not guests.answers(self.config):
            single.info("skipping guest-agent 'fs-freeze', agent configured but not running?")
            self.open_disks()
            return
        single.info("issuing guest-agent 'fs-freeze' command")
        guests.agent(self.config, "fsfreeze-freeze", timeout=3600)
        try:
            faults.pause("freeze-takes")
            self.open_disks()
        finally:
            single.info("issuing guest-agent 'fs-thaw' command")
            guests.agent(self.config, "fsfreeze-thaw", timeout=60)

    def open_disks(self):
        runs = wire.pid(self.number) is not None
        for slot, _, path in self.disks:
            self.files[slot] = blocks.still(path) if runs else os.open(path, os.O_RDONLY)

    def attach_fleeces(self, mode):
        asked = dict(word.partition("=")[::2] for word in self.single.job.asked.get("fleecing", "").split(","))
        if asked.get("enabled", asked.get("1", "0")) != "1" or not self.runs or mode != "snapshot":
            return
        for slot, volid, _ in self.disks:
            owner = storage.named(asked.get("storage", volid.partition(":")[0]))
            volume = owner.allocate(self.number, os.lseek(self.files[slot], 0, os.SEEK_END), "fleece", say)
            self.fleeces.append((owner, volume))
            self.single.info(f"drive-{slot}: attaching fleecing image {owner.name}:{volume} to QEMU")

    def mark(self, name):
        """While it is copied, the guest's process has a job of that name."""
        self.mark_name = name
        if self.runs:
            wire.ask(self.number, ("backup", name))
            self.in_guest = True

    def copy(self):
        if self.single.to_server:
            import pbs_upload
            pbs_upload.send(self)
            return
        with vzdump_pipe.target(self.single, self.folder) as file:
            total = sum(os.lseek(number, 0, os.SEEK_END) for number in self.files.values())
            progress = Progress(self.single, total)
            fill(self, file, progress)
            progress.end()

    def abort(self, failure):
        single = self.single
        if isinstance(failure, OSError):
            failure = Fail(f"vma_queue_write: write error - {failure.strerror}")
        if isinstance(failure, Interrupted):
            failure.text = "interrupted by signal"
        single.note("ERROR", failure.text)
        say(f"ERROR: {failure.text}")
        single.info("aborting backup job")
        if self.in_guest:
            wire.ask(self.number, ("backup-end",))
            self.in_guest = False
        if self.runs:
            single.info("resuming VM again")
        raise failure

    def close(self):
        for owner, volume in self.fleeces:
            self.single.info(f"removing fleecing image '{owner.name}:{volume}'")
            owner.free(volume)
        for file in self.files.values():
            os.close(file)
        if self.folder:
            for name in os.listdir(self.folder):
                os.unlink(f"{self.folder}/{name}")
            os.rmdir(self.folder)


def conf_bytes(copied):
    """The configuration as it goes into an archive: no snapshots, no lock, and where each disk was."""
    config = copied.config
    values = {key: value for key, value in config.values.items() if key not in ("lock", "parent") and not configuration.UNUSED.fullmatch(key)}
    lines = [f"#qmdump#map:{slot}:drive-{slot}:{volid.partition(':')[0]}:raw:\n" for slot, volid, _ in copied.disks]
    return (configuration.section_text(values, config.description) + "".join(lines)).encode()


def fill(copied, file, progress):
    sizes = {slot: os.lseek(number, 0, os.SEEK_END) for slot, number in copied.files.items()}
    writer = vma.Writer(file, [("qemu-server.conf", conf_bytes(copied))], [(f"drive-{slot}", size) for slot, size in sizes.items()])
    for device, (slot, size) in enumerate(sizes.items(), 1):
        done = 0
        for at, data in blocks.clusters(copied.files[slot], size):
            for hole in range(done, at // blocks.CLUSTER):
                progress.add(blocks.CLUSTER, writer.cluster(device, hole, b""), True)
            progress.add(len(data), writer.cluster(device, at // blocks.CLUSTER, data), False)
            done = at // blocks.CLUSTER + 1
        for hole in range(done, -(-size // blocks.CLUSTER)):
            progress.add(min(blocks.CLUSTER, size - hole * blocks.CLUSTER), writer.cluster(device, hole, b""), True)
    writer.flush()


class Progress:
    """The lines that tell of it: at most one in three seconds, and only where the percent is another
    one."""

    def __init__(self, single, total, note=""):
        self.single, self.total, self.note = single, total, note
        self.begun = self.last = time.monotonic()
        # Its clock has whole seconds, and is looked at once a second.
        self.second = int(time.time())
        self.read = self.written = self.zero = 0
        self.last_read = self.last_written = 0
        self.percent = -1
        self.limit = single.job.bwlimit * 1024
        self.fails_at = faults.number("backup-fails")
        self.dies = faults.words("backup-dies") is not None
        self.pace = faults.number("backup-pace", 0)

    def add(self, size, stored, is_zero):
        self.read += size
        self.written += stored
        if is_zero:
            self.zero += size
        if self.limit or self.pace:
            self.slow_down()
        if self.dies:
            faults.die_at("backup-dies", self.read * 100 // self.total)
        if self.fails_at is not None and self.read * 100 >= self.fails_at * self.total:
            raise Fail("vma_queue_write: write error - Input/output error")
        now = time.monotonic()
        if now - self.last >= 3 and self.read < self.total:
            self.line(now)

    def slow_down(self):
        """So that it takes as long as the limit, or as was asked for."""
        due = self.begun + max(self.read / self.limit if self.limit else 0, self.pace * self.read / self.total)
        while True:
            left = due - time.monotonic()
            if left <= 0:
                return
            if left < 0.005:
                return
            now = time.monotonic()
            if now - self.last >= 3:
                self.line(now)
            time.sleep(min(left, 0.1))

    def elapsed(self):
        return int(time.time()) - self.second

    def line(self, now):
        percent = self.read * 100 // self.total if self.total else 100
        if percent == self.percent:
            return
        since = max(1, round(now - self.last))
        read, written = (self.read - self.last_read) // since, (self.written - self.last_written) // since
        self.single.info(
            f"{percent:3d}% ({sized(self.read)} of {sized(self.total)}) in {units.duration(self.elapsed())}, "
            f"read: {sized(read)}/s, write: {sized(written)}/s")
        self.percent, self.last = percent, now
        self.last_read, self.last_written = self.read, self.written

    def end(self, reused=None):
        """The last lines, when the job in the guest's process is looked at again."""
        time.sleep(max(0, 1 - (time.monotonic() - self.begun) % 1))
        self.line(time.monotonic())
        seconds = self.elapsed()
        if self.zero:
            self.single.info(f"backup is sparse: {sized(self.zero, 2)} ({self.zero * 100 // (self.total or 1)}%) total zero data")
        if reused is not None:
            self.single.info(reused)
        if seconds:
            self.single.info(f"transferred {sized(self.total, 2)} in {seconds} seconds ({sized(self.total // seconds)}/s)")
        else:
            self.single.info(f"transferred {sized(self.total, 2)} in <1 seconds")
