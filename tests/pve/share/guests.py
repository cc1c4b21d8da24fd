"""Guests that run: how they are started, ended, and asked."""

import os
import re
import signal
import time

import faults
import storage
import wire
from failure import Fail


def start(config):
    """Returns when its process runs; its system boots after that."""
    if wire.pid(config.number):
        raise Fail(f"VM {config.number} already running")
    if config.is_template():
        raise Fail("you can't start a vm if it's a template")
    for _, volume, _ in config.disks():
        storage.check(volume)
    os.makedirs("/run/qemu-server", exist_ok=True)
    options = ["-id", str(config.number), "-name", f"{config.name},debug-threads=on", "-no-shutdown"]
    options += ["-daemonize", "-m", config.get("memory", "512")]
    import subprocess
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "/usr/bin/kvm", *options],
        stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True, close_fds=True,
    )
    if faults.words("start-fails") is not None:
        process.kill()
        raise Fail("start failed: QEMU exited with code 1")
    until = time.monotonic() + 30
    while wire.pid(config.number) is None:
        if process.poll() is not None or time.monotonic() > until:
            raise Fail("start failed: QEMU exited with code 1")
        time.sleep(0.01)


def stop(number):
    """At once, whatever it does."""
    pid = wire.pid(number)
    if pid is None:
        return
    try:
        wire.ask(number, ("stop",), 5)
    except (Fail, wire.Silent):
        pass
    if not ended(number, pid, 5):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        ended(number, pid, 5)


def ended(number, pid, seconds):
    """Waits until it has ended; whether it has."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not os.path.exists(f"/proc/{pid}") or is_zombie(pid):
            return True
        time.sleep(0.02)
    return False


def is_zombie(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def shutdown(config, timeout, force):
    """Tells the guest, and waits."""
    pid = wire.pid(config.number)
    if pid is None:
        return
    wire.ask(config.number, ("powerdown",))
    if ended(config.number, pid, timeout):
        return
    if not force:
        raise Fail("VM quit/powerdown failed - got timeout")
    stop(config.number)


def agent(config, command, *arguments, timeout=3.0):
    """Asks the guest's agent."""
    if not config.agent():
        raise Fail("No QEMU guest agent configured")
    if wire.pid(config.number) is None:
        raise Fail(f"VM {config.number} is not running")
    try:
        return wire.ask(config.number, (f"guest-{command}", *arguments), timeout)
    except wire.Silent:
        raise Fail("QEMU guest agent is not running") from None
    except Fail as failure:
        raise Fail(f"Agent error: {failure.text}") from None


def answers(config, timeout=3.0):
    """Whether the agent is there."""
    try:
        agent(config, "ping", timeout=timeout)
    except Fail:
        return False
    return True


def split_command(text):
    return re.findall(r"\S+", text)
