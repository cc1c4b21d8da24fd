"""A container's volumes as a tree of files, for as long as that is needed."""

import contextlib
import os
import subprocess

import storage


@contextlib.contextmanager
def mounted(volumes, point, read_only):
    """`volumes`: where in the tree, and the path of the image or device."""
    os.makedirs(point, exist_ok=True)
    done = []
    try:
        for place, path in volumes:
            options = "noatime,nobarrier" + (",ro,noload" if read_only else "") + ("" if path.startswith("/dev/") else ",loop")
            target = point + place.rstrip("/")
            os.makedirs(target, exist_ok=True)
            subprocess.run(["mount", "-t", "ext4", "-o", options, path, target], check=True)
            done.append(target)
        yield point
    finally:
        for target in done[::-1]:
            subprocess.run(["umount", target], check=False)
        os.rmdir(point)


def of(config):
    """What of a container goes into a backup: place and path, and what is left out."""
    kept, left = [], []
    for slot, volid, settings in sorted(config.disks(), key=lambda disk: disk[0] != "rootfs"):
        place = "/" if slot == "rootfs" else settings["mp"]
        if slot == "rootfs" or settings.get("backup") == "1":
            kept.append((slot, place, storage.path_of(volid)))
        else:
            left.append((slot, place))
    return kept, left


def binds(config):
    """Mount points that are folders of the node: no volumes."""
    found = []
    for key, value in sorted(config.values.items()):
        first, _, rest = value.partition(",")
        if key.startswith("mp") and first.startswith("/"):
            found.append((key, dict(word.partition("=")[::2] for word in rest.split(",")).get("mp", "")))
    return found
