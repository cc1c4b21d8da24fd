"""`vma`: lists, verifies and unpacks archives of guests."""

import os
import re
import signal
import sys
import time

import faults
import vma
from blocks import CLUSTER

USAGE = """usage: vma command [command options]

vma list <filename>
vma config <filename> [-c config]
vma create <filename> [-c config] pathname ...
vma extract <filename> [-d <drive-list>] [-r <fifo>] <targetdir>
vma verify <filename> [-v]"""


def say(text):
    faults.silence()
    os.write(1, f"{text}\n".encode())


def die(text):
    """As it does: says so, and traps."""
    os.write(2, f"vma: {text}\n".encode())
    signal.signal(signal.SIGTRAP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTRAP)
    os._exit(133)


def open_archive(name):
    try:
        return vma.Reader(sys.stdin.buffer if name == "-" else open(name, "rb"))
    except OSError as error:
        die(f"can't open file {name} - {error.strerror}")
    except vma.Broken as broken:
        die(str(broken))
    return None


def show(reader):
    for name, data in reader.configs:
        say(f"CFG: size: {len(data)} name: {name}")
    for number, (name, size) in reader.disks.items():
        say(f"DEV: dev_id={number} size: {size} devname: {name}")
    say(f"CTIME: {time.asctime(time.localtime(reader.ctime))}")


def targets(fifo, disks):
    """Where each disk goes, as whoever unpacks says: `map`, `format=raw:1:drive-scsi0=PATH`."""
    found = {}
    with open(fifo, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if line == "done":
                break
            match = re.fullmatch(r"(?:format=\w+:)?([01]):([^=]+)=(.*)", line)
            if not match:
                continue
            zero, name, path = match.groups()
            number = next(number for number, (known, _) in disks.items() if known == name)
            found[number] = os.open(path, os.O_WRONLY)
            say(f"map '{name}' to '{path}' (write zeros = {zero})")
    return found


def extract(name, folder, fifo, verbose):
    reader = open_archive(name)
    os.makedirs(folder, exist_ok=True)
    for known, data in reader.configs:
        with open(f"{folder}/{known}", "wb") as file:
            file.write(data)
    if verbose:
        show(reader)
    if fifo:
        files = targets(fifo, reader.disks)
    else:
        files = {}
        for number, (known, size) in reader.disks.items():
            files[number] = os.open(f"{folder}/disk-{known}.raw", os.O_WRONLY | os.O_CREAT, 0o644)
            os.ftruncate(files[number], size)
    read(reader, files, verbose)
    for file in files.values():
        os.close(file)


def read(reader, files, verbose):
    """Goes through it all; writes what has a file."""
    counts = vma.Counts([size for _, size in reader.disks.values()])
    begun = time.monotonic()
    pause = faults.number("restore-pace", 0) / 100
    breaks = faults.number("restore-breaks")
    try:
        for number, cluster, mask, stored in reader.clusters():
            at = cluster * CLUSTER
            size = min(CLUSTER, reader.disks[number][1] - at)
            if mask and number in files:
                try:
                    os.pwrite(files[number], vma.unpack(mask, stored, size), at)
                except OSError as error:
                    die(f"restore failed - blk_pwrite to  failed ({-error.errno})")
            counts.add(mask)
            for line in counts.lines(begun) if verbose else ():
                say(line)
                time.sleep(pause)
                if files:
                    faults.die_at("restore-dies", counts.shown)
                if breaks is not None and counts.shown >= breaks:
                    raise vma.Broken("short vma extent (1065472 < 3801600)")
    except vma.Broken as broken:
        die(f"restore failed - {broken}")
    missing = counts.total - counts.read
    if missing:
        die(f"restore failed - {'drive ' + next(iter(reader.disks.values()))[0]} is missing {missing} bytes")
    for file in files.values():
        os.fsync(file)
    if files:
        faults.pause("flush-takes")
    if verbose:
        for line in counts.end():
            say(line)


def main():
    words = sys.argv[1:]
    verbose = "-v" in words
    fifo = words[words.index("-r") + 1] if "-r" in words else None
    words = [word for at, word in enumerate(words) if word not in ("-v", "-r") and (at == 0 or words[at - 1] != "-r")]
    if len(words) < 2 or words[0] not in ("list", "config", "extract", "verify"):
        os.write(2, f"{USAGE}\n".encode())
        sys.exit(1)
    command, name = words[:2]
    if command == "list":
        show(open_archive(name))
    elif command == "config":
        os.write(1, dict(open_archive(name).configs).get("qemu-server.conf", b""))
    elif command == "verify":
        reader = open_archive(name)
        if verbose:
            show(reader)
        read(reader, {}, verbose)
    else:
        if len(words) < 3:
            die("missing target directory")
        extract(name, words[2], fifo, verbose)
