"""Tasks of a backup server. What they say comes to whoever asked once a second."""

import os
import time

import spool
import upid
from failure import Fail

FOLDER = "/var/log/proxmox-backup/tasks"


def escape(text):
    return "".join(sign if sign.isalnum() or sign in "_." else f"\\x{ord(sign):02x}" for sign in text)


class Task:
    """One that runs in this process. Its lines go to its log at once."""

    def __init__(self, kind, ident, user="root@pam", shown=True):
        pid = os.getpid()
        count = int(spool.read("/run/proxmox-backup/count", "0") or 0) + 1
        spool.write("/run/proxmox-backup/count", str(count))
        start = int(time.time())
        self.begun = time.monotonic()
        pstart = upid.started(pid) or 0
        self.upid = f"UPID:{os.uname().nodename}:{pid:08X}:{pstart:08X}:{count:08X}:{start:08X}:{kind}:{escape(ident)}:{user}:"
        self.path = f"{FOLDER}/{pstart & 255:02X}/{self.upid}"
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.waiting, self.shown = [], shown
        self.second = 0

    def say(self, text):
        with open(self.path, "a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')[:-2]}:00: {text}\n")
        self.waiting.append(text)
        if time.monotonic() - self.begun >= self.second + 1:
            self.second = int(time.monotonic() - self.begun)
            self.flush()

    def flush(self):
        if self.shown and self.waiting:
            os.write(1, "".join(f"{line}\n" for line in self.waiting).encode())
        self.waiting = []

    def run(self, work):
        """Returns the exit status; what went wrong is said in both ways."""
        status = "OK"
        try:
            work(self.say)
            self.say("TASK OK")
        except Fail as failure:
            status = failure.text.removeprefix("Error: ")
            self.say(f"TASK ERROR: {status}")
        self.flush()
        with open(f"{FOLDER}/archive", "a", encoding="utf-8") as archive:
            archive.write(f"{self.upid} {int(time.time()):08X} {status if status == 'OK' else 'ERROR: ' + status}\n")
        if status == "OK":
            return 0
        os.write(2, f"Error: task failed (status {status})\n".encode())
        return 255


def archive(limit):
    """The tasks that ended, newest first."""
    found = []
    for line in spool.read(f"{FOLDER}/archive").splitlines()[::-1][:limit]:
        name, end, status = line.split(" ", 2)
        fields = name.split(":")
        found.append({"upid": name, "node": fields[1], "pid": int(fields[2], 16), "pstart": int(fields[3], 16), "starttime": int(fields[5], 16),
                      "worker_type": fields[6], "worker_id": fields[7], "user": fields[8], "endtime": int(end, 16), "status": status})
    return found
