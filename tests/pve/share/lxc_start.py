"""A container that runs: the first process in its namespaces. It ends, and its root with it, when it is
told to."""

import os
import re
import signal
import subprocess
import sys

import config as configuration
import containers
import processes
import storage
import upid
from kvm import DEVICES


def mount(config):
    root = containers.root(config.number)
    for slot, volid, settings in sorted(config.disks(), key=lambda disk: disk[0] != "rootfs"):
        point = root if slot == "rootfs" else root + settings["mp"]
        os.makedirs(point, exist_ok=True)
        path = storage.path_of(volid)
        how = ["-o", "noatime,nobarrier" + ("" if path.startswith("/dev/") else ",loop")]
        subprocess.run(["mount", "-t", "ext4", *how, path, point], check=True)
    for name, kind, how in (("proc", "proc", []), ("dev", "tmpfs", ["-o", "mode=755,size=1m"]), ("run", "tmpfs", ["-o", "mode=755"])):
        os.makedirs(f"{root}/{name}", exist_ok=True)
        subprocess.run(["mount", "-t", kind, *how, kind, f"{root}/{name}"], check=True)
    for name in DEVICES:
        before = os.stat(f"/dev/{name}")
        os.mknod(f"{root}/dev/{name}", before.st_mode, before.st_rdev)
        os.chmod(f"{root}/dev/{name}", 0o666)
    return root


def unmount(root):
    with open("/proc/self/mounts", encoding="utf-8") as file:
        points = [line.split()[1] for line in file]
    for point in points[::-1]:
        if re.match(re.escape(root) + "(/|$)", point):
            subprocess.run(["umount", point], check=False)


def main():
    number = int(sys.argv[sys.argv.index("-n") + 1])
    config = configuration.load("lxc", number)
    with open("/proc/self/stat", encoding="utf-8") as file:
        outside = int(file.read().split()[0])
    upid.retitle(f"/usr/bin/lxc-start -F -n {number}")
    root = mount(config)
    with open("/proc/sys/kernel/hostname", "w", encoding="ascii") as file:
        file.write(config.name)
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(1))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    os.makedirs("/run/lxc", exist_ok=True)
    with open(f"/run/lxc/{number}.pid", "w", encoding="ascii") as file:
        file.write(f"{outside}\n")
    while not over:
        signal.pause()
        processes.reap()
    os.unlink(f"/run/lxc/{number}.pid")
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    processes.reap()
    unmount(root)
