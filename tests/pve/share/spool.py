"""Small files that several programs write: whole or not at all, and one writer at a time."""

import contextlib
import fcntl
import os
import time

from failure import Fail


def read(path, default=""):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return default


def write(path, text, mode=0o640):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    beside = f"{path}.tmp.{os.getpid()}"
    with open(beside, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.chmod(beside, mode)
    os.rename(beside, path)


@contextlib.contextmanager
def locked(path, seconds=None, waits=None):
    """Holds a lock file. `waits` is called once where somebody else holds it; after `seconds` it is
    given up."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        until, waited = None if seconds is None else time.monotonic() + seconds, False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                pass
            if waits and not waited:
                waits()
            waited = True
            if until is not None and time.monotonic() >= until:
                raise Fail(f"can't lock file '{path}' - got timeout")
            time.sleep(0.05)
        yield waited
    finally:
        os.close(file)
