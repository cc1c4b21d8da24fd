"""What the interface tells of guests, storages and their content."""

import os
import re
import time

import config as configuration
import registry
import storage
import wire
from failure import Fail


def memory(config):
    return int(config.get("memory", "512")) << 20


def guest(config):
    """A guest in a list."""
    running = is_running(config)
    begun = process_start(config) if running else None
    found = {
        "cpu": 0, "cpus": int(config.get("cores", 1)) * int(config.get("sockets", 1)), "disk": 0,
        "maxdisk": config.size_of(config.boot_disk()) if config.kind == "qemu" and config.boot_disk() else config.size_of("rootfs"),
        "maxmem": memory(config), "mem": memory(config) // 3 if running else 0, "name": config.name, "netin": 0, "netout": 0,
        "status": "running" if running else "stopped", "uptime": int(time.time() - begun) if begun else 0, "vmid": config.number,
    }
    for key in ("lock", "tags"):
        if key in config.values:
            found[key] = config.get(key)
    if config.is_template():
        found["template"] = 1
    if running:
        found["pid"] = wire.pid(config.number) if config.kind == "qemu" else pct_pid(config.number)
    if config.kind == "lxc":
        found.update({"type": "lxc", "swap": 0, "maxswap": int(config.get("swap", "512")) << 20})
    return found


def pct_pid(number):
    import containers
    return containers.pid(number)


def is_running(config):
    return (wire.pid(config.number) if config.kind == "qemu" else pct_pid(config.number)) is not None


def process_start(config):
    path = f"/run/qemu-server/{config.number}.pid" if config.kind == "qemu" else f"/run/lxc/{config.number}.pid"
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return time.time()


def current(config):
    """One guest, as `status/current` tells it."""
    found = guest(config)
    found["ha"] = {"managed": int(registry.is_ha_managed(config.number))}
    if config.kind == "qemu":
        found["qmpstatus"] = found["status"]
        if config.agent():
            found["agent"] = 1
        if "pid" in found:
            found.update({"running-machine": "pc-i440fx-9.2+pve1", "running-qemu": "9.2.0",
                          "proxmox-support": {"pbs-dirty-bitmap": 1, "backup-max-workers": 1, "query-bitmap-info": 1, "pbs-masterkey": 1, "backup-fleecing": 1}})
    return found


def storages(wanted=None):
    found = []
    for owner in storage.every():
        if wanted and wanted not in owner.content():
            continue
        entry = {
            "storage": owner.name, "type": owner.kind, "content": owner.values.get("content", "images,rootdir"),
            "active": 0, "enabled": int(owner.is_enabled()), "shared": int(owner.kind == "pbs" or owner.values.get("shared") == "1"),
            "total": 0, "used": 0, "avail": 0,
        }
        if owner.is_enabled():
            try:
                entry["total"], entry["used"], entry["avail"] = owner.status()
                entry["active"] = 1
                entry["used_fraction"] = entry["used"] / entry["total"] if entry["total"] else 0
            except (Fail, OSError) as error:
                entry["error"] = error.text if isinstance(error, Fail) else str(error)
        found.append(entry)
    return found


def content(owner, kind=None, number=None):
    found = []
    if kind in (None, "backup") and "backup" in owner.content():
        found += owner.backups()
    for purpose in ("images", "rootdir"):
        if kind not in (None, purpose) or purpose not in owner.content():
            continue
        for name, guest_number, size, used, form in owner.images():
            where = configuration.where_is(guest_number)
            is_container = bool(where and where[1] == "lxc")
            if is_container != (purpose == "rootdir") and not ({"images", "rootdir"} - set(owner.content())):
                continue
            entry = {"content": purpose, "format": form, "size": size, "vmid": guest_number, "volid": f"{owner.name}:{name}"}
            if owner.kind in ("dir", "btrfs"):
                entry.update({"used": used, "parent": None, "ctime": int(os.stat(owner.path(name)).st_mtime)})
            if entry["volid"] not in [known["volid"] for known in found]:
                found.append(entry)
    if kind in (None, "vztmpl") and "vztmpl" in owner.content() and owner.kind == "dir":
        folder = f"{owner.root}/template/cache"
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            found.append({"content": "vztmpl", "format": "tgz", "size": os.path.getsize(f"{folder}/{name}"), "volid": f"{owner.name}:vztmpl/{name}",
                          "ctime": int(os.stat(f"{folder}/{name}").st_mtime)})
    if number is not None:
        found = [entry for entry in found if entry.get("vmid") == number]
    return found


def resources(kind=None):
    """All of the cluster. Without the program that watches them, nobody knows what they do."""
    found = []
    for node, guest_kind, number in configuration.everywhere():
        entry = {"id": f"{guest_kind}/{number}", "node": node, "type": guest_kind, "vmid": number, "status": "unknown", "template": 0}
        if node == configuration.node():
            config = configuration.load(guest_kind, number)
            listed = guest(config)
            for key in ("name", "status", "maxmem", "maxdisk", "uptime", "template", "tags", "lock"):
                if key in listed:
                    entry[key] = listed[key]
        pool = registry.pool_of(number)
        if pool:
            entry["pool"] = pool
        found.append(entry)
    if kind in (None, "storage"):
        for listed in storages():
            found.append({"id": f"storage/{configuration.node()}/{listed['storage']}", "type": "storage", "node": configuration.node(),
                          "storage": listed["storage"], "plugintype": listed["type"], "status": "available" if listed["active"] else "unknown",
                          "disk": listed["used"], "maxdisk": listed["total"], "content": listed["content"], "shared": listed["shared"]})
    if kind in (None, "node"):
        for name in sorted(os.listdir("/etc/pve/nodes")):
            found.append({"id": f"node/{name}", "type": "node", "node": name, "status": "online" if name == configuration.node() else "unknown"})
    return found if kind != "storage" and kind != "node" else [entry for entry in found if entry["type"] == kind]


def config_object(config):
    """A guest's settings as the interface tells them."""
    import hashlib
    found = {key: (int(value) if re.fullmatch(r"[1-9]\d{0,8}|0", value) and key not in ("memory", "name", "tags") else value) for key, value in config.values.items()}
    if config.description:
        found["description"] = config.description + "\n"
    found["digest"] = hashlib.sha1(config.text().encode()).hexdigest()
    return found
