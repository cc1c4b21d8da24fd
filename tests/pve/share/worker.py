"""Work that is a task: done in a child with a session of its own, whose output goes to the task's log
and to the standard output of whoever asked."""

import os
import select
import signal
import sys
import time

import faults
import tasks
import upid
from failure import Fail, Interrupted

USER = "root@pam"
# What was said with `warn` in this worker.
warnings = 0


def node():
    return os.uname().nodename


def say(text):
    """A line, at once."""
    put(f"{text}\n")


def put(text):
    faults.silence()
    data = text.encode(errors="surrogateescape")
    while data:
        data = data[os.write(1, data):]


def warn(text):
    """A line that makes the task one with warnings."""
    global warnings
    warnings += 1
    say(f"WARN: {text}")


def interrupted(_signal, _frame):
    """Once: what is cleaned up then is not interrupted."""
    if faults.deaf():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise Interrupted


def child(work, output, verdict, ready):
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    name = os.read(ready, 4096).decode(errors="surrogateescape")
    upid.retitle(f"task {name}")
    said = "OK"
    try:
        work()
        count, *notice = faults.words("warnings") or ["0"]
        for _ in range(int(count)):
            warn(" ".join(notice))
        if warnings:
            said = f"WARNINGS {warnings}"
    except Fail as failure:
        said = "ERROR " + failure.text.replace("\n", " ")
    except Vanish:
        os._exit(1)
    except Exception as error:  # pylint: disable=broad-except
        said = "ERROR " + f"{type(error).__name__}: {error}".replace("\n", " ")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.write(verdict, said.encode(errors="surrogateescape"))
    os._exit(0)


class Vanish(Exception):
    """The worker ends without a verdict."""


class Task:
    """What a task came to, once it has ended."""

    def __init__(self, name):
        self.name = name
        self.error = None
        self.warnings = 0


def run(kind, ident, work, quiet=False, out=1):
    """Does it, and waits for its end. Its output goes to `out` meanwhile."""
    output, verdict, ready = os.pipe(), os.pipe(), os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        for number in (output[0], verdict[0], ready[1]):
            os.close(number)
        child(work, output[1], verdict[1], ready[0])
    for number in (output[1], verdict[1], ready[0]):
        os.close(number)
    user = (faults.words("upid-user") or [USER])[0]
    name = upid.Upid(node(), pid, upid.started(pid) or 0, int(time.time()), kind, str(ident), user)
    log_path = name.log()
    os.makedirs(os.path.dirname(log_path), exist_ok=True)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
    tasks.refresh(name)
    task = Task(name)
    signals = 0

    def forward(_signal, _frame):
        nonlocal signals
        signals += 1
        try:
            os.killpg(pid, signal.SIGKILL if signals > 3 else signal.SIGTERM)
        except ProcessLookupError:
            pass

    before = {number: signal.signal(number, forward) for number in (signal.SIGINT, signal.SIGTERM)}
    os.write(ready[1], str(name).encode(errors="surrogateescape"))
    os.close(ready[1])
    try:
        follow(output[0], log, None if quiet else out)
        os.waitpid(pid, 0)
        end(task, verdict[0], log)
        if task.warnings and not quiet:
            complain(f"Task finished with {task.warnings} warning(s)!")
    except BrokenPipeError:
        # Whoever listened has gone.
        os.write(log, b"\nTASK ERROR: broken pipe \n")
        task.error = "broken pipe "
        try:
            os.killpg(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
    for number, handler in before.items():
        signal.signal(number, handler)
    os.close(log)
    tasks.refresh()
    return task


def follow(output, log, out):
    while True:
        select.select([output], [], [])
        block = os.read(output, 4096)
        if not block:
            return
        os.write(log, block)
        while out is not None and block:
            block = block[os.write(out, block):]


def complain(text):
    data = f"{text}\n".encode(errors="surrogateescape")
    os.write(2, data)


def end(task, verdict, log):
    """The last lines of the log; the error goes to standard error, too."""
    said = os.read(verdict, 65536).decode(errors="surrogateescape")
    word, _, rest = said.partition(" ")
    if word == "OK":
        os.write(log, b"TASK OK\n")
    elif word == "WARNINGS":
        task.warnings = int(rest)
        os.write(log, f"\nTASK WARNINGS: {rest}\n".encode())
    else:
        task.error = rest if word == "ERROR" else "got unexpected control message:  "
        # The listener may have gone without a line that told of it.
        complain(task.error)
        os.write(log, f"\nTASK ERROR: {task.error}\n".encode(errors="surrogateescape"))
