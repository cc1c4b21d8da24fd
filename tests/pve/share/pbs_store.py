"""Datastores of a backup server: chunks of 4 MiB, each once under the hash of its content, and
snapshots that name them in their order."""

import ast
import binascii
import hashlib
import os
import re
import struct
import subprocess
import time

import blocks
import faults
import jsonish
import spool
import storage
import units
from failure import Fail

CONFIG = "/etc/proxmox-backup/datastore.cfg"
CHUNK = 4 << 20
PLAIN, PACKED = bytes([66, 171, 56, 7, 190, 131, 112, 161]), bytes([49, 185, 88, 66, 111, 182, 163, 127])
FIXED = bytes([47, 127, 65, 237, 145, 253, 15, 205])
ZERO = hashlib.sha256(bytes(CHUNK)).digest()
# Folders of chunks. The real server makes 65536, which are 260 MB of an empty store.
FOLDERS = 4096
# A chunk is swept when nobody has used it for that long.
GRACE = 24 * 3600 + 300
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def pack(data):
    """As it lies on disk: packed where that is shorter, with a checksum."""
    packed = subprocess.run(["zstd", "-q", "-1", "-c"], input=data, capture_output=True, check=True).stdout
    magic, body = (PACKED, packed) if len(packed) < len(data) else (PLAIN, data)
    return magic + struct.pack("<I", binascii.crc32(body)) + body


def unpack(blob, name):
    magic, crc, body = blob[:8], blob[8:12], blob[12:]
    if struct.pack("<I", binascii.crc32(body)) != crc:
        raise Fail(f"Data blob has wrong CRC checksum. ({name})")
    if magic == PLAIN:
        return body
    return subprocess.run(["zstd", "-q", "-d", "-c"], input=body, capture_output=True, check=True).stdout


class Datastore:
    def __init__(self, name, path):
        self.name, self.path = name, path

    # Chunks.

    def chunk_path(self, digest):
        text = digest.hex()
        folder = text[:4] if os.path.isdir(f"{self.path}/.chunks/{text[:4]}") else f"{text[:3]}0"
        return f"{self.path}/.chunks/{folder}/{text}"

    def create(self, folders, told):
        if os.path.exists(f"{self.path}/.chunks"):
            raise Fail(f"unable to create chunk store '{self.name}' subdir \"{self.path}/.chunks\" - EEXIST: File exists")
        os.makedirs(f"{self.path}/.chunks")
        with open(f"{self.path}/.lock", "w", encoding="ascii"):
            pass
        for at in range(folders):
            os.mkdir(f"{self.path}/.chunks/{at * (65536 // folders):04x}")
            if at * 100 // folders != (at - 1) * 100 // folders and at * 100 // folders:
                told(at * 100 // folders)

    def insert(self, data, digest):
        """Whether it was new."""
        path = self.chunk_path(digest)
        if os.path.exists(path):
            os.utime(path)
            return False
        spool_file = f"{path}.tmp"
        with open(spool_file, "wb") as file:
            file.write(pack(data))
        os.rename(spool_file, path)
        return True

    def chunk(self, digest):
        path = self.chunk_path(digest)
        try:
            with open(path, "rb") as file:
                data = unpack(file.read(), path)
        except FileNotFoundError:
            raise Fail(f"reading file \"{path}\" failed: No such file or directory (os error 2)") from None
        if hashlib.sha256(data).digest() != digest:
            raise Fail("detected chunk with wrong digest.")
        return data

    def chunks(self):
        for folder in sorted(os.listdir(f"{self.path}/.chunks")):
            for name in sorted(os.listdir(f"{self.path}/.chunks/{folder}")):
                if re.fullmatch(r"[0-9a-f]{64}", name):
                    yield f"{self.path}/.chunks/{folder}/{name}"

    # Snapshots.

    def folder(self, snapshot):
        return f"{self.path}/{snapshot}"

    def groups(self):
        found = []
        for kind in ("ct", "host", "vm"):
            parent = f"{self.path}/{kind}"
            for ident in sorted(os.listdir(parent)) if os.path.isdir(parent) else []:
                found.append(f"{kind}/{ident}")
        return found

    def snapshots(self, group=None):
        """Their names, oldest first in each group."""
        found = []
        for one in [group] if group else self.groups():
            parent = f"{self.path}/{one}"
            names = os.listdir(parent) if os.path.isdir(parent) else []
            found += [f"{one}/{name}" for name in sorted(names) if TIME.fullmatch(name)]
        return found

    def begin(self, snapshot, owner):
        os.makedirs(self.folder(snapshot))
        path = f"{os.path.dirname(self.folder(snapshot))}/owner"
        if not os.path.exists(path):
            spool.write(path, f"{owner}\n", 0o644)

    def owner(self, snapshot):
        return spool.read(f"{os.path.dirname(self.folder(snapshot))}/owner").strip()

    def write_blob(self, snapshot, name, data):
        with open(f"{self.folder(snapshot)}/{name}", "wb") as file:
            file.write(pack(data))

    def read_blob(self, snapshot, name):
        path = f"{self.folder(snapshot)}/{name}"
        with open(path, "rb") as file:
            return unpack(file.read(), path)

    def manifest(self, snapshot):
        return ast.literal_eval(self.read_blob(snapshot, "index.json.blob").decode())

    def write_manifest(self, snapshot, manifest):
        self.write_blob(snapshot, "index.json.blob", jsonish.tight(manifest).encode())

    def write_index(self, snapshot, name, size, digests):
        body = b"".join(digests)
        head = bytearray(4096)
        head[:8] = FIXED
        head[8:24] = os.urandom(16)
        struct.pack_into("<q32sQQ", head, 24, int(time.time()), hashlib.sha256(body).digest(), size, CHUNK)
        with open(f"{self.folder(snapshot)}/{name}", "wb") as file:
            file.write(bytes(head) + body)
        return hashlib.sha256(body).hexdigest()

    def read_index(self, snapshot, name):
        """The bytes of the disk, and the hash of each chunk."""
        with open(f"{self.folder(snapshot)}/{name}", "rb") as file:
            data = file.read()
        size = struct.unpack_from("<Q", data, 64)[0]
        return size, [data[at:at + 32] for at in range(4096, len(data), 32)]

    def indexes(self, snapshot):
        return sorted(name for name in os.listdir(self.folder(snapshot)) if name.endswith((".fidx", ".didx")))

    def forget(self, snapshot):
        path = self.folder(snapshot)
        if not os.path.isdir(path):
            raise Fail(f"Error: snapshot {snapshot} does not exist.")
        for name in os.listdir(path):
            os.unlink(f"{path}/{name}")
        os.rmdir(path)
        parent = os.path.dirname(path)
        if os.listdir(parent) == ["owner"]:
            os.unlink(f"{parent}/owner")
            os.rmdir(parent)

    def entry(self, snapshot):
        """As the client lists it. One that was not finished has no manifest, and no size."""
        kind, ident, when = snapshot.split("/")
        found = {"backup-type": kind, "backup-id": ident, "backup-time": seconds(when), "owner": self.owner(snapshot),
                 "protected": os.path.exists(f"{self.folder(snapshot)}/.protected")}
        try:
            manifest = self.manifest(snapshot)
        except (FileNotFoundError, Fail):
            found["files"] = [{"filename": name} for name in sorted(os.listdir(self.folder(snapshot)))]
            return found
        files = [{key: file[key] for key in ("filename", "size", "crypt-mode")} for file in manifest["files"]]
        blob = f"{self.folder(snapshot)}/index.json.blob"
        files.append({"filename": "index.json.blob", "size": os.path.getsize(blob), "crypt-mode": "none"})
        if os.path.exists(f"{self.folder(snapshot)}/client.log.blob"):
            files.append({"filename": "client.log.blob"})
        found.update({"files": files, "size": sum(file.get("size", 0) for file in files)})
        more = manifest.get("unprotected", {})
        if "notes" in more:
            found["comment"] = more["notes"]
        if "verify_state" in more:
            found["verification"] = more["verify_state"]
        return found

    def status(self):
        found = os.statvfs(self.path)
        unit = found.f_frsize
        return {"total": found.f_blocks * unit, "used": (found.f_blocks - found.f_bfree) * unit, "avail": found.f_bavail * unit}


def seconds(text):
    import calendar
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def every():
    return [Datastore(name, values["path"]) for _, name, values in storage.parse(spool.read(CONFIG))]


def named(name):
    for found in every():
        if found.name == name:
            return found
    raise Fail(f"Error: no such datastore '{name}'")


def split_disk(file, size):
    """Each chunk of a disk: its hash, and its bytes where they are not all zero."""
    at = 0
    for offset, data in blocks.clusters(file, size, CHUNK):
        while at < offset:
            yield zero_digest(size - at), b""
            at += CHUNK
        yield hashlib.sha256(data).digest(), data
        at += CHUNK
    while at < size:
        yield zero_digest(size - at), b""
        at += CHUNK


def zero_digest(left):
    return ZERO if left >= CHUNK else hashlib.sha256(bytes(left)).digest()


def folders():
    return int(faults.number("chunk-folders", FOLDERS))


def stamp(at):
    return units.utc(at)
