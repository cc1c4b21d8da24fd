"""What else of the cluster names a guest: high availability, replication, backup jobs, pools, rights,
firewall rules."""

import os
import re

import spool
import storage

HA = "/etc/pve/ha/resources.cfg"
REPLICATION = "/etc/pve/replication.cfg"
JOBS = "/etc/pve/jobs.cfg"
USERS = "/etc/pve/user.cfg"


def ha_resources():
    """Name and values of each."""
    return [(f"{kind}:{name}", values) for kind, name, values in storage.parse(spool.read(HA))]


def is_ha_managed(number):
    return any(name.partition(":")[2] == str(number) for name, _ in ha_resources())


def replications(number=None):
    """The jobs that copy guests to other nodes: id and values."""
    found = [(name, values) for _, name, values in storage.parse(spool.read(REPLICATION))]
    return [job for job in found if number is None or job[0].partition("-")[0] == str(number)]


def jobs():
    """The backup jobs: id and values."""
    return [(name, values) for kind, name, values in storage.parse(spool.read(JOBS)) if kind == "vzdump"]


def users():
    """The lines of `user.cfg`, as their fields."""
    return [line.split(":") for line in spool.read(USERS).splitlines() if ":" in line]


def pools():
    """Name and guests of each pool."""
    return [(line[1], [word for word in line[3].split(",") if word]) for line in users() if line[0] == "pool" and len(line) > 3]


def pool_of(number):
    return next((name for name, members in pools() if str(number) in members), None)


def firewall(number):
    return f"/etc/pve/firewall/{number}.fw"


def add_to_pool(number, pool):
    def edit(line):
        if line[0] == "pool" and line[1] == pool:
            line[3] = ",".join([word for word in line[3].split(",") if word] + [str(number)])
        return line
    rewrite_users(edit)


def rewrite_users(edit):
    lines = [edit(line) for line in users()]
    if lines:
        spool.write(USERS, "".join(":".join(line) + "\n" for line in lines if line))


def forget(number):
    """What goes with every destroyed guest: its place in pools, its rights, its firewall rules."""
    def edit(line):
        if line[0] == "pool" and len(line) > 3:
            line[3] = ",".join(word for word in line[3].split(",") if word != str(number))
        if line[0] == "acl" and line[2] == f"/vms/{number}":
            return None
        return line
    rewrite_users(edit)
    if os.path.exists(firewall(number)):
        os.unlink(firewall(number))


def purge(number):
    """What goes only where it is asked for."""
    def without(path, keep):
        found = storage.parse(spool.read(path))
        left = [section for section in found if keep(section)]
        if left != found or path == JOBS and found:
            spool.write(path, storage.text_of(left))

    def job(section):
        words = [word for word in re.split(r"[,;\s]+", section[2].get("vmid", "")) if word]
        if str(number) not in words:
            return True
        section[2]["vmid"] = ",".join(word for word in words if word != str(number))
        return bool(section[2]["vmid"])

    without(HA, lambda section: section[1] != str(number))
    without(REPLICATION, lambda section: section[1].partition("-")[0] != str(number))
    without(JOBS, job)
