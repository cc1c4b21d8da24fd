"""Where an archive goes: a file, through the program that compresses it, under another name until it
is whole."""

import contextlib
import os
import subprocess

from failure import Fail

PROGRAMS = {"zstd": ["zstd", "--threads=1"], "gzip": ["gzip"], "lzo": ["lzop"]}


class Pipe:
    """A file whose errors are those of the pipe."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.file, view):]


@contextlib.contextmanager
def target(single, folder):
    job = single.job
    if job.storage is None:
        yield from compressed(job, job.archive_to)
        return
    dat = single.path(f".{'vma' if single.config.kind == 'qemu' else 'tar'}.dat")
    file = os.open(dat, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
    try:
        yield from compressed(job, file)
    except BaseException:
        os.close(file)
        os.unlink(dat)
        raise
    os.close(file)
    os.rename(dat, single.archive())


def compressed(job, file):
    if job.compress is None:
        yield Pipe(file)
        return
    program = PROGRAMS[job.compress]
    try:
        process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=file, bufsize=0)
    except FileNotFoundError:
        raise Fail(f"command '{program[0]}' failed: No such file or directory") from None
    try:
        yield Pipe(process.stdin.fileno())
    except BaseException:
        process.kill()
        process.wait()
        raise
    process.stdin.close()
    if process.wait():
        raise Fail(f"command '{' '.join(program)}' failed: exit code {process.returncode}")


