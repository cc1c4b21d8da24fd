"""Somebody else who is at work on a guest: `busy NUMBER SECONDS`, `flock NUMBER SECONDS`."""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import config as configuration
import spool
import vzdump_qemu
import worker


# While this is there.
ASKED = "/run/fault/busy"


def busy(number, seconds):
    """A backup that takes its time: the task, the guest's lock, and the one of all backups."""
    config = configuration.load("qemu", number)

    def work():
        with spool.locked("/var/run/vzdump.lock"), vzdump_qemu.locked(config):
            worker.say(f"INFO: starting new backup job: vzdump {number} --storage bkp --mode snapshot")
            until = time.monotonic() + seconds
            spool.write(ASKED, "")
            while os.path.exists(ASKED) and time.monotonic() < until:
                time.sleep(0.05)
    worker.run("vzdump", number, work, True)


def flock(number, seconds):
    with configuration.lock(configuration.load("qemu", number)):
        time.sleep(seconds)


def main():
    what, number, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    ready = configuration.load("qemu", number).path
    if os.fork():
        # It is at work when this ends.
        until = time.monotonic() + 5
        while what == "busy" and "lock: backup" not in spool.read(ready) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.1)
        os._exit(0)
    os.setsid()
    for end in (0, 1, 2):
        os.dup2(os.open("/dev/null", os.O_RDWR), end)
    {"busy": busy, "flock": flock}[what](number, seconds)
    os._exit(0)


if __name__ == "__main__":
    main()
