"""What a backup server does with its stores: it sweeps chunks that nobody needs, and reads all to see
whether it is whole."""

import os
import time

import pbs_store
import spool
from failure import Fail
from pbs_sizes import human


def report(store):
    return f"{store.path}/.gc-status"


def last_collection(store):
    found = {"disk-bytes": 0, "disk-chunks": 0, "index-data-bytes": 0, "index-file-count": 0, "pending-bytes": 0, "pending-chunks": 0,
             "removed-bad": 0, "removed-bytes": 0, "removed-chunks": 0, "still-bad": 0, "store": store.name}
    import ast
    text = spool.read(report(store))
    return {**found, **ast.literal_eval(text)} if text else found


def collect(store, task, say):
    begun = time.time()
    say(f"starting garbage collection on store {store.name}")
    say("Start GC phase1 (mark used chunks)")
    indexes = [(snapshot, name) for snapshot in store.snapshots() for name in store.indexes(snapshot)]
    used, data = set(), 0
    for at, (snapshot, name) in enumerate(indexes, 1):
        size, digests = store.read_index(snapshot, name)
        data += size
        used.update(digests)
        say(f"marked {at * 100 // len(indexes)}% ({at} of {len(indexes)} index files)")
    for digest in used:
        path = store.chunk_path(digest)
        if os.path.exists(path):
            os.utime(path)
    say("Start GC phase2 (sweep unused chunks)")
    counts = sweep(store, used, begun, say)
    total = counts["disk-bytes"]
    say(f"Removed garbage: {human(counts['removed-bytes'])}")
    say(f"Removed chunks: {counts['removed-chunks']}")
    if counts["pending-chunks"]:
        say(f"Pending removals: {human(counts['pending-bytes'])} (in {counts['pending-chunks']} chunks)")
    say(f"Original data usage: {human(data)}")
    if data:
        say(f"On-Disk usage: {human(total)} ({total * 100 / data:.2f}%)")
    say(f"On-Disk chunks: {counts['disk-chunks']}")
    say(f"Deduplication factor: {data / total if total else 1:.2f}")
    if counts["disk-chunks"]:
        say(f"Average chunk size: {human(total / counts['disk-chunks'])}")
    counts.update({"index-data-bytes": data, "index-file-count": len(indexes), "upid": task.upid, "last-run-state": "OK",
                   "last-run-endtime": int(time.time()), "duration": int(time.time() - begun), "removed-bad": 0, "still-bad": 0})
    spool.write(report(store), repr(counts))


def sweep(store, used, begun, say):
    counts = {"disk-bytes": 0, "disk-chunks": 0, "pending-bytes": 0, "pending-chunks": 0, "removed-bytes": 0, "removed-chunks": 0}
    paths = list(store.chunks())
    shown = 0
    for at, path in enumerate(paths, 1):
        stat = os.stat(path)
        if bytes.fromhex(os.path.basename(path)) in used:
            kind = "disk"
        elif stat.st_atime < begun - pbs_store.GRACE:
            kind = "removed"
            os.unlink(path)
        else:
            kind = "pending"
        counts[f"{kind}-bytes"] += stat.st_size
        counts[f"{kind}-chunks"] += 1
        if at * 100 // len(paths) > shown:
            shown = at * 100 // len(paths)
            if shown < 100:
                say(f"processed {shown}% ({at} chunks)")
    counts["disk-bytes"] += counts["pending-bytes"]
    counts["disk-chunks"] += counts["pending-chunks"]
    return counts


def verify_one(store, task, say, snapshot, skip_verified):
    """A single snapshot."""
    if not one(store, task, snapshot, say, {}, skip_verified):
        say("Failed to verify the following snapshots/groups:")
        say(f"\t{snapshot}")
        raise Fail("verification failed - please check the log for details")


def verify(store, task, say, skip_verified):
    groups = store.groups()
    bad = []
    say(f"verify datastore {store.name}")
    say(f"found {len(groups)} groups")
    seen = {}
    for at, group in enumerate(groups):
        snapshots = store.snapshots(group)[::-1]
        say(f"verify group {store.name}:{group} ({len(snapshots)} snapshots)")
        for number, snapshot in enumerate(snapshots, 1):
            if not one(store, task, snapshot, say, seen, skip_verified):
                bad.append(snapshot)
            share = (at + number / len(snapshots)) * 100 / len(groups)
            inner = f", {number}/{len(snapshots)} snapshots in group #{at + 1}" if number < len(snapshots) else ""
            say(f"percentage done: {share:.2f}% ({at + (not inner)}/{len(groups)} groups{inner})")
    if bad:
        say("Failed to verify the following snapshots/groups:")
        for snapshot in bad:
            say(f"\t{snapshot}")
        raise Fail("verification failed - please check the log for details")


def one(store, task, snapshot, say, seen, skip_verified):
    try:
        manifest = store.manifest(snapshot)
    except (FileNotFoundError, Fail):
        path = f"{store.folder(snapshot)}/index.json.blob"
        say(f"verify {store.name}:{snapshot} - manifest load error: unable to load blob '\"{path}\"' - No such file or directory (os error 2)")
        return False
    state = manifest.get("unprotected", {}).get("verify_state")
    if skip_verified and state and state["state"] == "ok":
        say(f"SKIPPED: verify {store.name}:{snapshot} (recently verified)")
        return True
    say(f"verify {store.name}:{snapshot}")
    good = True
    for file in manifest["files"]:
        say(f"  check {file['filename']}")
        if file["filename"].endswith(".blob"):
            store.read_blob(snapshot, file["filename"])
            continue
        good &= check_index(store, snapshot, file["filename"], say, seen)
    manifest.setdefault("unprotected", {})["verify_state"] = {"state": "ok" if good else "failed", "upid": task.upid}
    store.write_manifest(snapshot, manifest)
    return good


def check_index(store, snapshot, name, say, seen):
    begun = time.monotonic()
    size, digests = store.read_index(snapshot, name)
    read = data = errors = 0
    for digest in digests:
        if digest not in seen:
            path = store.chunk_path(digest)
            try:
                read += os.path.getsize(path)
                data += len(store.chunk(digest))
                seen[digest] = True
            except (Fail, FileNotFoundError) as error:
                say(f"  chunk {digest.hex()} is corrupt: {error}" if isinstance(error, Fail) else f"  can't verify missing chunk with digest {digest.hex()}")
                seen[digest] = False
                if os.path.exists(path):
                    os.rename(path, f"{path}.0.bad")
                    say(f"  corrupted chunk renamed to \"{path}.0.bad\"")
        errors += not seen[digest]
    spent = max(time.monotonic() - begun, 0.01)
    mib = 1 << 20
    say(f"  verified {read / mib:.2f}/{data / mib:.2f} MiB in {spent:.2f} seconds, speed {read / mib / spent:.2f}/{data / mib / spent:.2f} MiB/s ({errors} errors)")
    return not errors
