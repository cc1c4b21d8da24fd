"""A storage that is a datastore of a backup server."""

import os

import pbs_access
import pbs_store
import spool
import storage
import units
from failure import Fail


class Pbs(storage.Storage):
    kind = "pbs"

    def repository(self):
        user = self.values.get("username", "root@pam")
        return f"{user}@{self.values.get('server', 'localhost')}:{self.values['datastore']}"

    def user(self):
        return self.values.get("username", "root@pam")

    def secret(self):
        return spool.read(f"/etc/pve/priv/storage/{self.name}.pw").strip()

    def environment(self):
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PBS_REPOSITORY": self.repository(), "PBS_PASSWORD": self.secret(),
                "PBS_FINGERPRINT": self.values.get("fingerprint", "")}

    def store(self):
        try:
            pbs_access.log_in(self.user(), self.secret())
        except Fail as failure:
            why = "500 Can't connect to 127.0.0.1:8007 (Connection refused)" if "refused" in failure.text else "401 permission check failed."
            raise Fail(f"{self.name}: error fetching datastores - {why}") from None
        name = self.values["datastore"]
        for found in pbs_store.every():
            if found.name == name and pbs_access.may(self.user(), name):
                return found
        raise Fail(f"{self.name}: Cannot find datastore '{name}', check permissions and existence!")

    def activate(self):
        self.store()

    def status(self):
        found = self.store().status()
        return found["total"], found["used"], found["avail"]

    def path(self, volume):
        return f"pbs://{self.repository()}/{volume.removeprefix('backup/')}"

    def exists(self, volume):
        return os.path.isdir(self.store().folder(volume.removeprefix("backup/")))

    def images(self):
        return []

    def backups(self):
        found = []
        store = self.store()
        for name in store.snapshots():
            entry = store.entry(name)
            kind = {"vm": "qemu", "ct": "lxc"}.get(entry["backup-type"])
            if kind is None:
                continue
            backup = {"content": "backup", "ctime": entry["backup-time"], "format": f"pbs-{entry['backup-type']}", "size": entry.get("size", 1),
                      "subtype": kind, "vmid": int(entry["backup-id"]), "volid": f"{self.name}:backup/{name}"}
            for key, other in (("comment", "notes"), ("verification", "verification")):
                if key in entry:
                    backup[other] = entry[key]
            if entry["protected"]:
                backup["protected"] = 1
            found.append(backup)
        return found

    def free(self, volume):
        self.store().forget(volume.removeprefix("backup/"))

    def note(self, single, text):
        store = self.store()
        name = snapshot_of(single)
        manifest = store.manifest(name)
        manifest.setdefault("unprotected", {})["notes"] = text
        store.write_manifest(name, manifest)


def snapshot_of(single):
    kind = "vm" if single.config.kind == "qemu" else "ct"
    return f"{kind}/{single.config.number}/{units.utc(int(single.begun))}"


KIND = Pbs
