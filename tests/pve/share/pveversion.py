"""`pveversion`: the release, and with `--verbose` the packages."""

import os

import command
import options
import routes
from command import out
from options import BOOL

PACKAGES = [
    ("proxmox-ve", "8.4.0"), ("pve-manager", routes.VERSION), ("lvm2", "2.03.16-2"), ("pve-container", "5.2.6"),
    ("pve-qemu-kvm", "9.2.0-5"), ("qemu-server", "8.3.12"), ("libpve-storage-perl", "8.3.6"), ("proxmox-backup-client", "3.4.1-1"),
    ("zfsutils-linux", "2.2.7-pve2"),
]


def run(arguments):
    _, found = options.parse(["--verbose" if word == "-v" else word for word in arguments], {"verbose": BOOL}, "pveversion [OPTIONS]")
    kernel = os.uname().release
    if not found.get("verbose"):
        out(f"pve-manager/{routes.VERSION}/{routes.REPOID} (running kernel: {kernel})")
        return
    for name, version in PACKAGES:
        more = {"proxmox-ve": f" (running kernel: {kernel})", "pve-manager": f" (running version: {version}/{routes.REPOID})"}.get(name, "")
        out(f"{name}: {version}{more}")


def main():
    command.run(run)
