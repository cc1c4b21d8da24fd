"""Archives of guests (VMA): a header that names configurations and disks, then extents of up to 59
clusters of 64 KiB, of which only the blocks that are not zero are there."""

import hashlib
import os
import struct
import time

from blocks import BLOCK, CLUSTER

HEADER = 12288
EXTENT = 512
PER_EXTENT = 59
ZERO = bytes(BLOCK)


class Broken(Exception):
    """It is none, or ends early."""


class Writer:
    """Writes to a file or a pipe."""

    def __init__(self, file, configs, disks):
        """`configs`: name and bytes of each; `disks`: name and bytes of each, numbered from 1."""
        self.file = file
        self.uuid = os.urandom(16)
        self.waiting, self.data = [], []
        blob = bytearray(b"\0")
        self.file.write(self.header(configs, disks, blob))

    def header(self, configs, disks, blob):
        def keep(data):
            at = len(blob)
            blob.extend(struct.pack("<H", len(data)) + data)
            return at

        names = [keep(name.encode() + b"\0") for name, _ in configs] + [0] * (256 - len(configs))
        contents = [keep(data) for _, data in configs] + [0] * (256 - len(configs))
        devices = bytes(32)
        for name, size in disks:
            devices += struct.pack(">IIQQQ", keep(name.encode() + b"\0"), 0, size, 0, 0)
        devices += bytes(8192 - len(devices))
        length = (HEADER + len(blob) + 511) // 512 * 512
        head = bytearray(length)
        struct.pack_into(">4sI16sq16sIII", head, 0, b"VMA\0", 1, self.uuid, int(time.time()), bytes(16), HEADER, len(blob), length)
        struct.pack_into(">256I256I", head, 2044, *names, *contents)
        head[4096:12288] = devices
        head[HEADER:HEADER + len(blob)] = blob
        head[32:48] = hashlib.md5(head).digest()
        return bytes(head)

    def cluster(self, device, number, data):
        """One cluster of a disk; nothing where it is all zero. Returns the bytes that are stored."""
        mask, blocks = 0, []
        for bit in range(16):
            block = data[bit * BLOCK:(bit + 1) * BLOCK]
            if block and block != ZERO[:len(block)]:
                mask |= 1 << bit
                blocks.append(block + bytes(BLOCK - len(block)))
        self.waiting.append(mask << 48 | device << 32 | number)
        self.data += blocks
        if len(self.waiting) == PER_EXTENT:
            self.flush()
        return len(blocks) * BLOCK

    def flush(self):
        if not self.waiting:
            return
        head = bytearray(EXTENT)
        struct.pack_into(">4sHH16s16s", head, 0, b"VMAE", 0, len(self.data), self.uuid, bytes(16))
        struct.pack_into(f">{len(self.waiting)}Q", head, 40, *self.waiting)
        head[24:40] = hashlib.md5(head).digest()
        self.file.write(bytes(head) + b"".join(self.data))
        self.waiting, self.data = [], []


class Reader:
    """Reads from a file or a pipe; `read` is exact."""

    def __init__(self, file):
        self.file = file
        fixed = self.read(HEADER)
        if fixed[:4] != b"VMA\0":
            raise Broken("not a vma file - wrong magic number")
        _, version, self.uuid, self.ctime, digest, at, size, length = struct.unpack_from(">4sI16sq16sIII", fixed, 0)
        if version != 1:
            raise Broken(f"wrong vma version {version}")
        head = bytearray(fixed + self.read(length - HEADER))
        if len(head) < length:
            raise Broken("can't read vma header - file too small")
        head[32:48] = bytes(16)
        if hashlib.md5(head).digest() != digest:
            raise Broken("wrong vma header checksum")
        blob = bytes(head[at:at + size])

        def kept(at):
            count = struct.unpack_from("<H", blob, at)[0]
            return blob[at + 2:at + 2 + count]

        offsets = struct.unpack_from(">256I256I", head, 2044)
        self.configs = [(kept(name)[:-1].decode(), kept(data)) for name, data in zip(offsets[:256], offsets[256:]) if name]
        self.disks = {}
        for number in range(1, 256):
            name, _, size, _, _ = struct.unpack_from(">IIQQQ", head, 4096 + 32 * number)
            if name:
                self.disks[number] = (kept(name)[:-1].decode(), size)

    def read(self, count):
        parts, left = [], count
        while left:
            data = self.file.read(left)
            if not data:
                break
            parts.append(data)
            left -= len(data)
        return b"".join(parts)

    def clusters(self):
        """Disk, number, mask and the stored blocks of each cluster."""
        while True:
            head = self.read(EXTENT)
            if not head:
                return
            if len(head) < EXTENT:
                raise Broken(f"short vma extent ({len(head)} < {EXTENT})")
            magic, _, count, uuid, digest = struct.unpack_from(">4sHH16s16s", head, 0)
            if magic != b"VMAE":
                raise Broken("found wrong magic number in vma extent")
            if uuid != self.uuid:
                raise Broken("found wrong uuid in vma extent")
            if hashlib.md5(head[:24] + bytes(16) + head[40:]).digest() != digest:
                raise Broken("wrong vma extent header checksum")
            data = self.read(count * BLOCK)
            if len(data) < count * BLOCK:
                raise Broken(f"short vma extent ({EXTENT + len(data)} < {EXTENT + count * BLOCK})")
            at = 0
            for info in struct.unpack_from(f">{PER_EXTENT}Q", head, 40):
                if not info >> 32 & 255:
                    continue
                mask = info >> 48
                stored = mask.bit_count() * BLOCK
                yield info >> 32 & 255, info & 0xFFFFFFFF, mask, data[at:at + stored]
                at += stored


class Counts:
    """What an archive came to, as it was read."""

    def __init__(self, sizes):
        # Whole clusters are counted, not the bytes of the disks.
        self.total = sum(-(-size // CLUSTER) * CLUSTER for size in sizes)
        # With more than one disk the last percent comes a cluster early.
        self.early = CLUSTER if len(sizes) > 1 else 0
        self.read = self.sparse = self.zero_blocks = self.shown = 0

    def add(self, mask):
        missing = 16 - mask.bit_count()
        self.read += CLUSTER
        if mask == 0:
            self.sparse += CLUSTER
        else:
            self.zero_blocks += missing * BLOCK

    def lines(self, begun):
        """The progress that is due: a line for each whole percent."""
        percent = min(100, (self.read + self.early) * 100 // self.total) if self.total else 100
        while self.shown < percent:
            self.shown += 1
            yield f"progress {self.shown}% (read {self.read} bytes, duration {int(time.monotonic() - begun)} sec)"

    def end(self):
        dense = self.total - self.sparse
        share = self.zero_blocks * 100 / dense if dense else 0
        yield f"total bytes read {self.total}, sparse bytes {self.sparse} ({self.sparse * 100 / (self.total or 1):.3g}%)"
        yield f"space reduction due to 4K zero blocks {share:.3g}%"


def unpack(mask, stored, size):
    """A cluster's bytes, zeros and all."""
    parts, at = [], 0
    for bit in range(16):
        if mask >> bit & 1:
            parts.append(stored[at:at + BLOCK])
            at += BLOCK
        else:
            parts.append(ZERO)
    return b"".join(parts)[:size]
