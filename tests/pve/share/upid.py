"""The names of tasks: `UPID:<node>:<pid>:<pstart>:<starttime>:<type>:<id>:<user>:`, numbers in hex."""

import os
import re

PATTERN = re.compile(
    r"UPID:([A-Za-z0-9][A-Za-z0-9-]*):([0-9A-Fa-f]{8}):([0-9A-Fa-f]{8,9}):([0-9A-Fa-f]{8}):([^:\s]+):([^:\s]*):([^:\s]+):"
)


class Upid:
    def __init__(self, node, pid, pstart, start, kind, ident, user):
        self.node, self.pid, self.pstart, self.start = node, pid, pstart, start
        self.kind, self.id, self.user = kind, ident, user

    def __str__(self):
        return (
            f"UPID:{self.node}:{self.pid:08X}:{self.pstart:08X}:{self.start:08X}:"
            f"{self.kind}:{self.id}:{self.user}:"
        )

    def log(self):
        """Its log file, in a folder that its last digit of the time names."""
        text = str(self)
        return f"/var/log/pve/tasks/{self.start & 15:X}/{text}"

    def is_running(self):
        return started(self.pid) == self.pstart

    def fields(self):
        user, _, token = self.user.partition("!")
        found = {
            "upid": str(self), "node": self.node, "pid": self.pid, "pstart": self.pstart,
            "starttime": self.start, "type": self.kind, "id": self.id, "user": user,
        }
        if token:
            found["tokenid"] = token
        return found


def parse(text):
    """Nothing where it is none."""
    match = PATTERN.fullmatch(text)
    if not match:
        return None
    node, pid, pstart, start, kind, ident, user = match.groups()
    return Upid(node, int(pid, 16), int(pstart, 16), int(start, 16), kind, ident, user)


def started(pid):
    """When a process began, in ticks since the machine started; nothing where there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def retitle(text, short=None):
    """The process's title, where `ps` looks for it: in the memory of its arguments."""
    with open("/proc/self/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    begin, end = int(fields[45]), int(fields[46])
    above = int(fields[48])
    title = text.encode(errors="surrogateescape")
    room = above - begin - 1
    title = title[:room]
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(begin)
        # Without a NUL where the arguments end, their end is looked for in what follows.
        memory.write(title + b"\0" * max(1, end - begin - len(title)))
    with open("/proc/self/comm", "w", encoding="utf-8") as comm:
        comm.write((short or os.path.basename(text))[:15])
