"""What the interface tells of the node and its cluster."""

import os

import config as configuration
import inventory
import registry

VERSION = "8.4.1"
REPOID = "2a5fa54a8503f96d"


def version(_call):
    return {"release": "8.4", "repoid": REPOID, "version": VERSION}


def nodes(_call):
    found = []
    for name in sorted(os.listdir("/etc/pve/nodes")):
        entry = {"node": name, "id": f"node/{name}", "type": "node", "status": "online" if name == configuration.node() else "unknown"}
        found.append(entry)
    return found


def node(_call):
    return [{"name": name} for name in ("qemu", "lxc", "storage", "tasks", "status", "version", "vzdump")]


def node_status(_call):
    with open("/proc/loadavg", encoding="ascii") as file:
        load = file.read().split()[:3]
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = {line.split(":")[0]: int(line.split()[1]) << 10 for line in file}
    with open("/proc/uptime", encoding="ascii") as file:
        uptime = int(float(file.read().split()[0]))
    root = os.statvfs("/")
    return {
        "loadavg": load, "uptime": uptime, "pveversion": f"pve-manager/{VERSION}/{REPOID}", "kversion": f"Linux {os.uname().release}",
        "memory": {"total": memory["MemTotal"], "free": memory["MemFree"], "used": memory["MemTotal"] - memory["MemFree"]},
        "rootfs": {"total": root.f_blocks * root.f_frsize, "avail": root.f_bavail * root.f_frsize, "free": root.f_bfree * root.f_frsize,
                   "used": (root.f_blocks - root.f_bfree) * root.f_frsize},
        "cpuinfo": {"cpus": os.cpu_count(), "sockets": 1},
    }


def resources(call):
    return inventory.resources(call.get("type"))


def cluster_status(_call):
    return [{"id": f"node/{name}", "name": name, "type": "node", "local": int(name == configuration.node()), "online": int(name == configuration.node()),
             "nodeid": 0, "level": "", "ip": "127.0.0.1"} for name in sorted(os.listdir("/etc/pve/nodes"))]


def next_free(call):
    taken = [number for _, _, number in configuration.everywhere()]
    wanted = call.get("vmid")
    if wanted:
        if int(wanted) in taken:
            raise call.refuse("vmid", f"VM {wanted} already exists")
        return wanted
    return str(next(number for number in range(100, 1 << 20) if number not in taken))


def ha_resources(_call):
    return [{"sid": name, "type": name.partition(":")[0], "digest": "0", **values} for name, values in registry.ha_resources()]


def ha_status(_call):
    found = [{"id": "quorum", "node": configuration.node(), "quorate": 1, "status": "OK", "type": "quorum"}]
    for name, values in registry.ha_resources():
        found.append({"id": f"service:{name}", "sid": name, "node": configuration.node(), "state": values.get("state", "started"), "type": "service",
                      "status": f"{name} ({configuration.node()}, {values.get('state', 'started')})"})
    return found


def replication(_call):
    return [{"id": name, "guest": int(name.partition("-")[0]), "jobnum": int(name.partition("-")[2] or 0), "type": "local", **values}
            for name, values in registry.replications()]


def node_replication(call):
    return [entry for entry in replication(call) if call.get("guest") in (None, str(entry["guest"]))]


def backup_jobs(_call):
    return [{"id": name, "type": "vzdump", "enabled": 1, **{key: int(value) if value in ("0", "1") else value for key, value in values.items()}}
            for name, values in registry.jobs()]


def pools(_call):
    return [{"poolid": name} for name, _ in registry.pools()]


def pool(call):
    members = dict(registry.pools()).get(call.path["pool"], [])
    return {"poolid": call.path["pool"], "members": [{"vmid": int(number), "id": f"qemu/{number}", "type": "qemu", "node": configuration.node()} for number in members]}


def rights(_call):
    return [{"path": line[2], "propagate": int(line[1]), "roleid": line[4], "type": "user", "ugid": line[3]}
            for line in registry.users() if line[0] == "acl" and len(line) > 4]


def disks(_call):
    return []


def services(_call):
    return [{"name": name, "service": name, "state": "running", "unit-state": "enabled"} for name in ("pvedaemon", "pveproxy", "pvestatd")]


TABLE = [
    ("GET", "/version", version),
    ("GET", "/nodes", nodes),
    ("GET", "/nodes/{node}", node),
    ("GET", "/nodes/{node}/status", node_status),
    ("GET", "/nodes/{node}/version", version),
    ("GET", "/nodes/{node}/services", services),
    ("GET", "/nodes/{node}/disks/list", disks),
    ("GET", "/nodes/{node}/replication", node_replication),
    ("GET", "/cluster/resources", resources),
    ("GET", "/cluster/status", cluster_status),
    ("GET", "/cluster/nextid", next_free),
    ("GET", "/cluster/ha/resources", ha_resources),
    ("GET", "/cluster/ha/status/current", ha_status),
    ("GET", "/cluster/replication", replication),
    ("GET", "/cluster/backup", backup_jobs),
    ("GET", "/pools", pools),
    ("GET", "/pools/{pool}", pool),
    ("GET", "/access/acl", rights),
]
