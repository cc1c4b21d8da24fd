"""Who may use a backup server: users, their secrets, rights; and its certificate."""

import hashlib
import os
import time

import faults
import spool
from failure import Fail

FOLDER = "/etc/proxmox-backup"
USERS, RIGHTS = f"{FOLDER}/shadow.cfg", f"{FOLDER}/acl.cfg"
# How long it takes to say no.
DELAY = 3


def secrets():
    return dict(line.split(" ", 1) for line in spool.read(USERS).splitlines() if " " in line)


def digest(secret):
    return hashlib.sha256(f"salt:{secret}".encode()).hexdigest()


def add_user(name, secret):
    known = secrets()
    known[name] = digest(secret)
    spool.write(USERS, "".join(f"{user} {value}\n" for user, value in sorted(known.items())), 0o600)


def remove_user(name):
    known = secrets()
    known.pop(name, None)
    spool.write(USERS, "".join(f"{user} {value}\n" for user, value in sorted(known.items())), 0o600)


def rights():
    return [line.split(":") for line in spool.read(RIGHTS).splitlines() if line.startswith("acl:")]


def write_rights(found):
    spool.write(RIGHTS, "".join(":".join(line) + "\n" for line in found), 0o640)


def allow(path, name, role):
    found = [line for line in rights() if (line[2], line[3]) != (path, name)]
    write_rights(found + [["acl", "1", path, name, role]])


def deny(path, name=None):
    write_rights([line for line in rights() if line[2] != path or name not in (None, line[3])])


def may(name, store):
    if name == "root@pam":
        return True
    return any(line[3] == name and line[2] in ("/", "/datastore", f"/datastore/{store}") for line in rights())


def log_in(name, secret):
    """Fails after a while."""
    if faults.words("pbs-down") is not None:
        raise Fail("Error: error trying to connect: tcp connect error: Connection refused (os error 111)")
    if secrets().get(name) != digest(secret or ""):
        time.sleep(DELAY)
        raise Fail("Error: permission check failed.")


def fingerprint():
    """Of its certificate."""
    path = f"{FOLDER}/proxy.key"
    if not os.path.exists(path):
        spool.write(path, os.urandom(32).hex(), 0o600)
    return ":".join(f"{byte:02x}" for byte in hashlib.sha256(spool.read(path).encode()).digest())
