"""`vzdump`: backups of guests, one after the other, of one node one job at a time."""

import os
import random
import time

import command
import config as configuration
import faults
import options
import retention
import spool
import storage
import units
import worker
from failure import Fail, Interrupted
from options import BOOL, INT, TEXT
from worker import say

LOCK = "/var/run/vzdump.lock"
USAGE = "vzdump {<vmid>} [OPTIONS]"
COMPRESS = ("0", "1", "gzip", "lzo", "zstd")
MODES = ("snapshot", "suspend", "stop")
SCHEMA = {
    "storage": TEXT, "mode": MODES, "compress": COMPRESS, "bwlimit": INT, "notes-template": TEXT, "protected": BOOL,
    "remove": BOOL, "prune-backups": TEXT, "fleecing": TEXT, "quiet": BOOL, "stdout": BOOL, "lockwait": INT,
    "stopwait": INT, "job-id": TEXT, "ionice": INT, "all": BOOL, "node": TEXT, "dumpdir": TEXT, "exclude": TEXT,
    "script": TEXT, "tmpdir": TEXT, "pigz": INT, "zstd": INT, "mailto": TEXT, "mailnotification": TEXT, "pool": TEXT,
    "notification-mode": TEXT, "performance": TEXT, "stdexcludes": BOOL, "maxfiles": INT, "vmid": TEXT,
}


def info(text):
    say(f"INFO: {text}")


def defaults():
    """What `/etc/vzdump.conf` says."""
    found = {}
    for line in spool.read("/etc/vzdump.conf").splitlines():
        key, colon, value = line.partition(":")
        if colon and not line.startswith("#"):
            found[key.strip()] = value.strip()
    return found


class Job:
    """What is asked for, and where it goes."""

    def __init__(self, numbers, found):
        self.numbers, self.asked = numbers, found
        given = defaults()
        self.mode = found.get("mode", given.get("mode", "snapshot"))
        compress = found.get("compress", given.get("compress", "0"))
        self.compress = {"0": None, "1": "lzo"}.get(compress, compress)
        self.bwlimit = found.get("bwlimit", int(given.get("bwlimit", 0)))
        self.ionice = found.get("ionice", int(given.get("ionice", 7)))
        self.lockwait = found.get("lockwait", int(given.get("lockwait", 180)))
        self.stopwait = found.get("stopwait", int(given.get("stopwait", 10)))
        self.removes = found.get("remove", given.get("remove", "1") == "1")
        self.stdout = found.get("stdout", False)
        self.storage = None
        self.given = given

    def words(self):
        """The command line, as the log repeats it: its options in no order."""
        names = [name for name in self.asked if name != "quiet" and name != "stdout"]
        random.shuffle(names)
        parts = []
        for name in names:
            value = self.asked[name]
            value = str(int(value)) if isinstance(value, bool) else str(value)
            parts.append(f"--{name} {quoted(value)}")
        return " ".join(["vzdump"] + [str(number) for number in self.numbers] + parts)

    def find_storage(self):
        if self.stdout:
            return
        name = self.asked.get("storage", self.given.get("storage", "local"))
        try:
            self.storage = storage.named(name)
        except Fail as failure:
            raise Fail(f"could not activate storage '{name}': {failure.text} could not get storage information for '{name}': {failure.text}") from None
        if "backup" not in self.storage.content():
            raise Fail(f"could not get storage information for '{name}': can't use storage '{name}' for backups - wrong content type")
        try:
            self.storage.activate()
        except Fail as failure:
            raise Fail(f"could not activate storage '{name}': {failure.text}") from None


def quoted(text):
    return text if text and all(sign.isalnum() or sign in "-_=.,/:@%+" for sign in text) else "'" + text.replace("'", "'\\''") + "'"


class Single:
    """The backup of one guest."""

    def __init__(self, job, config):
        self.job, self.config = job, config
        self.begun = time.time()
        self.log = []
        stamp = time.strftime("%Y_%m_%d-%H_%M_%S", time.localtime(self.begun))
        self.base = f"vzdump-{config.kind}-{config.number}-{stamp}"

    def finish(self):
        """What is done at the end, whichever that is; a backup puts it in place of this."""

    def info(self, text):
        self.note("INFO", text)
        info(text)

    def note(self, level, text):
        self.log.append(f"{units.date()} {level}: {text}\n")

    def path(self, ending):
        """In the folder of archives."""
        return f"{self.job.storage.root}/dump/{self.base}{ending}"

    @property
    def to_server(self):
        return self.job.storage is not None and self.job.storage.kind == "pbs"

    def archive(self):
        endings = {None: "", "zstd": ".zst", "gzip": ".gz", "lzo": ".lzo"}
        kind = "vma" if self.config.kind == "qemu" else "tar"
        return self.path(f".{kind}{endings[self.job.compress]}")

    def write_log(self):
        if self.job.storage is not None and not self.to_server:
            spool.write(self.path(".log"), "".join(self.log), 0o644)


def run(arguments):
    words, found = options.parse(arguments, SCHEMA, USAGE)
    if found.get("stdout") and "storage" in found:
        raise options.refused("stdout", "storage cannot be used with stdout", USAGE)
    numbers = [options.guest_number(word, USAGE) for text in words for word in text.split(",")]
    if found.get("all"):
        numbers = configuration.numbers("qemu") + configuration.numbers("lxc")
    if not numbers:
        raise Fail("no backup task: nothing to do", 255)
    here = [number for number in numbers if (configuration.where_is(number) or (configuration.node(),))[0] == configuration.node()]
    if not here:
        return 0
    external = [number for number in numbers if number not in here]
    job = Job(here, found)
    ident = str(here[0]) if len(here) == 1 else ""
    if not job.stdout:
        return command.task("vzdump", ident, lambda: work(job, external), found.get("quiet"))
    archive = os.dup(1)
    job.archive_to = archive
    done = worker.run("vzdump", ident, lambda: work(job, []), False, 2)
    return 255 if done.error is not None else 0


def work(job, external):
    job.find_storage()

    def waits():
        info("trying to get global lock - waiting...")
    try:
        with spool.locked(LOCK, job.lockwait * 60, waits) as waited:
            if waited:
                info("got global lock")
            backups(job, external)
    except Fail as failure:
        if not failure.text.startswith("can't lock file"):
            raise
        say(f"ERROR: can't acquire lock '{LOCK}' - got timeout")
        raise worker.Vanish from None


def backups(job, external):
    info(f"starting new backup job: {job.words()}")
    if external:
        info("skip external VMs: " + ", ".join(map(str, external)))
    bad = 0
    try:
        for number in job.numbers:
            bad += not one(job, number)
    except Interrupted:
        say("ERROR: Backup job failed - interrupted by signal")
        raise Fail("interrupted by signal") from None
    finish(bad)


def finish(bad):
    notice = faults.words("notification")
    if notice is not None:
        say("ERROR: could not notify via target `mail-to-root`: could not notify via endpoint(s): mail-to-root")
    info("Backup job finished with errors" if bad else "Backup job finished successfully")
    if bad:
        raise Fail("job errors")


def one(job, number):
    """Whether it came to a good end."""
    config = configuration.load_any(number)
    why = f"unable to find VM '{number}'" if config is None else retention.no_room(job, config)
    if why:
        say(f"ERROR: Backup of VM {number} failed - {why}")
        info(f"Failed at {units.date()}")
        return False
    single = Single(job, config)
    single.info(f"Starting Backup of VM {number} ({config.kind})")
    info(f"Backup started at {units.date()}")
    kind = __import__(f"vzdump_{config.kind}")
    begun = time.monotonic()
    try:
        try:
            kind.backup(single)
            if single.to_server:
                note_on_server(single)
            elif job.storage is not None:
                after(single)
            retention.prune(single)
        finally:
            single.finish()
        single.info(f"Finished Backup of VM {number} ({units.clock(time.monotonic() - begun)})")
        info(f"Backup finished at {units.date()}")
        return True
    except Fail as failure:
        why = "interrupted by signal" if isinstance(failure, Interrupted) else failure.text
        if isinstance(failure, Interrupted) and failure.text != "received interrupt ":
            why = failure.text
        single.note("ERROR", f"Backup of VM {number} failed - {why}")
        say(f"ERROR: Backup of VM {number} failed - {why}")
        info(f"Failed at {units.date()}")
        if isinstance(failure, Interrupted):
            raise
        return False
    finally:
        single.write_log()


def after(single):
    """What is said of a good archive, and what lies beside it."""
    path = single.archive()
    single.info(f"archive file size: {units.archive(os.path.getsize(path))}")
    if "notes-template" in single.job.asked:
        single.info("adding notes to backup")
        spool.write(f"{path}.notes", notes(single), 0o644)
    if single.job.asked.get("protected"):
        single.info("marking backup as protected")
        spool.write(f"{path}.protected", "", 0o644)


def note_on_server(single):
    if "notes-template" in single.job.asked:
        single.info("adding notes to backup")
        single.job.storage.note(single, notes(single))


def notes(single):
    text = single.job.asked["notes-template"].replace("\\n", "\n")
    for key, value in (("guestname", single.config.name), ("node", configuration.node()), ("vmid", str(single.config.number)), ("cluster", "standalone")):
        text = text.replace("{{" + key + "}}", value)
    return text


def main():
    command.run(run)
