"""The list of tasks: `active` (what runs, and the last 25 that ended) and `index` (all that ended)."""

import contextlib
import os
import time

import spool
import upid

FOLDER = "/var/log/pve/tasks"
KEPT = 25
# `index` becomes `index.1` when it is longer.
LONGEST = 50000


class Entry:
    """A line of `active`: a task that runs has no end."""

    def __init__(self, name, end=None, status=None):
        self.name, self.end, self.status = name, end, status
        self.upid = upid.parse(name)

    def line(self):
        if self.end is None:
            return f"{self.name} 0\n"
        return f"{self.name} 1 {self.end:08X} {self.status}\n"


def status_of(log):
    """How a task ended, by the last line of its log."""
    try:
        with open(log, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 65536))
            tail = file.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        return f"unable to open file - {error.strerror}"
    if not tail:
        return "unable to read tail (got 0 bytes)"
    last = tail.rstrip("\n").rpartition("\n")[2]
    if last == "TASK OK":
        return "OK"
    for prefix in ("TASK ERROR: ", "TASK "):
        if last.startswith(prefix) and (prefix != "TASK " or last.startswith("TASK WARNINGS: ")):
            return last[len(prefix):]
    return "unexpected status"


def read_active():
    entries = []
    for line in spool.read(f"{FOLDER}/active").splitlines():
        words = line.split(" ", 3)
        if upid.parse(words[0]) is None:
            continue
        if len(words) == 4:
            entries.append(Entry(words[0], int(words[2], 16), words[3]))
        else:
            entries.append(Entry(words[0]))
    return entries


def read_index():
    """The tasks that ended, newest first."""
    found = []
    for name in ("index.1", "index"):
        for line in spool.read(f"{FOLDER}/{name}").splitlines():
            words = line.split(" ", 2)
            if len(words) == 3 and upid.parse(words[0]):
                found.append(Entry(words[0], int(words[1], 16), words[2]))
    return found[::-1]


def refresh(new=None):
    """Moves what has ended to the index, and adds a new one; returns what `active` has then."""
    with spool.locked(f"{FOLDER}/.active.lock"):
        running, ended, gone = [], [], []
        for entry in read_active():
            if entry.end is not None:
                ended.append(entry)
            elif entry.upid.is_running():
                running.append(entry)
            else:
                entry.end = end_of(entry.upid)
                entry.status = status_of(entry.upid.log())
                gone.append(entry)
        if new is not None:
            running.insert(0, Entry(str(new)))
        gone.sort(key=lambda entry: entry.end)
        if gone:
            add_to_index(gone)
        ended = sorted(gone + ended, key=lambda entry: -entry.end)[:KEPT]
        entries = running + ended
        spool.write(f"{FOLDER}/active", "".join(entry.line() for entry in entries))
        return entries


def end_of(name):
    with contextlib.suppress(OSError):
        return int(os.stat(name.log()).st_mtime)
    return int(time.time())


def add_to_index(entries):
    path = f"{FOLDER}/index"
    with open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
        for entry in entries:
            file.write(f"{entry.name} {entry.end:08X} {entry.status}\n")
    os.chmod(path, 0o640)
    if os.path.getsize(path) > LONGEST:
        os.rename(path, f"{FOLDER}/index.1")
