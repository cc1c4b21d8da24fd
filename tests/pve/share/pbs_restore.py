"""`pbs-restore`: a disk from a backup server, into a file or a device that is there."""

import os
import sys
import time

import faults
import pbs_store
import proxmox_backup_client
from failure import Fail


class Fragments:
    """Its lines come in pieces: each part of a line is written by itself."""

    def __init__(self, broken):
        self.broken = broken

    def line(self, *parts):
        faults.silence()
        if self.broken:
            for part in parts:
                os.write(2, part.encode())
            os.write(2, b"\n")
        else:
            os.write(2, ("".join(parts) + "\n").encode())


def restore(arguments):
    words = [word for at, word in enumerate(arguments) if not word.startswith("--") and arguments[at - 1] not in ("--repository", "--format", "--keyfile", "--ns")]
    given = {arguments[at]: arguments[at + 1] for at in range(len(arguments) - 1) if arguments[at].startswith("--")}
    snapshot, archive, target = words[:3]
    say = Fragments(False)
    say.line(f"connecting to repository '{given['--repository']}'")
    store, _ = proxmox_backup_client.repository({"repository": given["--repository"]})
    say.line(f"open block backend for target '{target}'")
    say.line(f"starting to restore snapshot '{snapshot}'")
    say.line("download and verify backup index")
    size, digests = store.read_index(snapshot, archive)
    file = os.open(target, os.O_WRONLY)
    begun = time.monotonic()
    done = zero = shown = 0
    pace = faults.number("restore-pace", 0) / 100
    breaks = faults.number("restore-breaks")
    for digest in digests:
        length = min(pbs_store.CHUNK, size - done)
        if digest == pbs_store.zero_digest(length):
            zero += length
        else:
            try:
                os.pwrite(file, store.chunk(digest)[:length], done)
            except OSError as error:
                raise Fail(f"restore failed: blk_pwrite failed at offset {done} ({length}) - {error.strerror}") from None
            except Fail as failure:
                raise Fail(f"restore failed: {failure.text}") from None
        done += length
        percent = done * 100 // size
        if percent != shown:
            shown = percent
            # Which lines come whole is as it happens.
            say.broken = percent % 3 != 1
            say.line("progress ", str(percent), "% (read ", str(done), " bytes, zeroes = ", str(zero * 100 // done), "% (", str(zero),
                     " bytes), duration ", str(int(time.monotonic() - begun)), " sec)")
            time.sleep(pace)
            faults.die_at("restore-dies", percent)
            if breaks is not None and percent >= breaks:
                raise Fail(f"restore failed: reading file \"{store.chunk_path(digest)}\" failed: Input/output error (os error 5)")
    os.fsync(file)
    faults.pause("flush-takes")
    spent = max(time.monotonic() - begun, 0.01)
    say.broken = False
    say.line(f"restore image complete (bytes={size}, duration={spent:.2f}s, speed={size / (1 << 20) / spent:.2f}MB/s)")


def main():
    try:
        restore(sys.argv[1:])
    except Fail as failure:
        os.write(2, f"{failure.text}\n".encode())
        sys.exit(255)
