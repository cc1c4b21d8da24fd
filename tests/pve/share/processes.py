"""Processes, by the file that tells their number, and the end of those that nobody else waits for."""

import os


def named(path, title):
    """The process whose number the file tells; nothing where no such one runs under that title."""
    try:
        with open(path, encoding="ascii") as file:
            found = int(file.read())
        with open(f"/proc/{found}/cmdline", "rb") as file:
            there = file.read()
    except (OSError, ValueError):
        return None
    return found if there.startswith(title.encode()) else None


def reap():
    """All children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
