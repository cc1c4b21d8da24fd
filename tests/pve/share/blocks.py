"""Disk images: where their data is, copies of them that keep their holes, and what is zero in them."""

import errno
import fcntl
import os

CLUSTER = 64 << 10
BLOCK = 4 << 10
ZERO = bytes(CLUSTER)
FICLONE = 0x40049409
BLKGETSIZE64 = 0x80081272
# Bytes that are read at once.
PIECE = 1 << 20
EMPTY = bytes(PIECE)


def length(path):
    """The bytes of a file or a device."""
    with open(path, "rb") as file:
        return file.seek(0, os.SEEK_END)


def extents(file, end):
    """Begin and end of each part that has data; a device has it everywhere."""
    at = 0
    while at < end:
        try:
            begin = os.lseek(file, at, os.SEEK_DATA)
            stop = os.lseek(file, begin, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            begin, stop = at, end
        if begin >= end:
            return
        yield begin, min(stop, end)
        at = stop


def clusters(file, end, size=CLUSTER):
    """Offset and bytes of each cluster that is not all zero, in their order."""
    zero = bytes(size)
    done = 0
    for begin, stop in extents(file, end):
        at = max(done, begin // size * size)
        while at < stop:
            piece = os.pread(file, PIECE // size * size or size, at)
            if not piece:
                break
            if piece == EMPTY[:len(piece)]:
                at += len(piece)
                continue
            for offset in range(0, len(piece), size):
                cluster = piece[offset:offset + size]
                if cluster != zero[:len(cluster)]:
                    yield at + offset, cluster
            at += len(piece)
        done = at


def copy(source, target, end, told=None):
    """Copies the data between two open files, and leaves out what is zero. `told` is called with the
    bytes that are done."""
    for at, cluster in clusters(source, end):
        os.pwrite(target, cluster, at)
        if told:
            told(at + len(cluster))
    if told:
        told(end)


def still(path):
    """The image as it is now, open for reading: a file without a name, so that what writes to the
    image does not change it."""
    source = os.open(path, os.O_RDONLY)
    end = os.lseek(source, 0, os.SEEK_END)
    folder = os.path.dirname(path) if os.path.isfile(path) else "/var/tmp"
    held = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    os.ftruncate(held, end)
    try:
        fcntl.ioctl(held, FICLONE, source)
    except OSError:
        copy(source, held, end)
    os.close(source)
    return held
