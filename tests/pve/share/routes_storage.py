"""Storages and what they hold, as the interface tells them."""

import inventory
import storage
from failure import Fail


def listing(call):
    found = inventory.storages(call.get("content"))
    for entry in found:
        error = entry.pop("error", None)
        if error:
            import worker
            worker.complain(error)
    name = call.get("storage")
    if name and name not in [entry["storage"] for entry in found]:
        raise call.refuse("storage", "No such storage.")
    return [entry for entry in found if name in (None, entry["storage"])]


def status(call):
    name = call.path["storage"]
    for entry in inventory.storages():
        if entry["storage"] == name:
            entry.pop("error", None)
            entry.pop("storage")
            entry.pop("used_fraction", None)
            return entry
    raise Fail(f"storage '{name}' does not exist", 2)


def content(call):
    owner = storage.named(call.path["storage"])
    owner.activate()
    number = call.get("vmid")
    return inventory.content(owner, call.get("content"), int(number) if number else None)


def remove(call):
    import pvesm
    import pvesh
    volume = call.path["volume"]
    volid = volume if ":" in volume else f"{call.path['storage']}:{volume}"
    return pvesh.Upid(str(pvesm.free_task(volid).name))


def configured(_call):
    return [describe(owner) for owner in storage.every()]


def describe(owner):
    import hashlib
    import spool
    found = {key: (int(value) if key in ("disable", "shared", "is_mountpoint") and value.isdigit() else value) for key, value in owner.values.items()}
    found.update({"storage": owner.name, "type": owner.kind, "digest": hashlib.sha1(spool.read(storage.CONFIG).encode()).hexdigest()})
    return found


def one(call):
    for owner in storage.every():
        if owner.name == call.path["storage"]:
            return describe(owner)
    raise Fail(f"storage '{call.path['storage']}' does not exist", 2)


TABLE = [
    ("GET", "/nodes/{node}/storage", listing),
    ("GET", "/nodes/{node}/storage/{storage}/status", status),
    ("GET", "/nodes/{node}/storage/{storage}/content", content),
    ("DELETE", "/nodes/{node}/storage/{storage}/content/(?P<volume>.+)", remove),
    ("GET", "/storage", configured),
    ("GET", "/storage/{storage}", one),
]
