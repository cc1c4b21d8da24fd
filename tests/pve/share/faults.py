"""Faults and delays that were asked for from outside: a file for each, with its words."""

import os
import signal
import time

import spool

FOLDER = "/run/fault"


def words(name):
    """The words of a fault, or nothing where it was not asked for."""
    path = f"{FOLDER}/{name}"
    return spool.read(path).split("\n")[0].split() if os.path.exists(path) else None


def number(name, default=None):
    found = words(name)
    return float(found[0]) if found else default


def once(name):
    """The same, and it is over with that."""
    found = words(name)
    if found is not None:
        os.unlink(f"{FOLDER}/{name}")
    return found


def ask(name):
    """As it is asked for from outside."""
    spool.write(f"{FOLDER}/{name}", "")


def pause(name):
    """Waits as long as that one says, or until it is taken back."""
    until = time.monotonic() + number(name, 0)
    while time.monotonic() < until and words(name) is not None:
        time.sleep(0.05)


def die_at(name, percent):
    """Kills this task, and who started it, as a crash of the node would end both."""
    at = number(name)
    if at is not None and percent >= at:
        once(name)
        with open(f"/proc/{os.getpgrp()}/stat", encoding="utf-8") as file:
            starter = int(file.read().rpartition(")")[2].split()[1])
        os.kill(starter, signal.SIGKILL)
        os.killpg(0, signal.SIGKILL)


def deaf():
    """Whether this signal is not heard."""
    left = number("deaf", 0)
    if left > 0:
        spool.write(f"{FOLDER}/deaf", str(left - 1))
    return left > 0


def silence():
    """While it is asked for, whoever prints waits here."""
    while words("silence") is not None:
        time.sleep(0.05)
