"""Guests, as the interface tells them, and what is done with them through it."""

import config as configuration
import containers
import guests
import inventory
import options
import pvesh
import qm_agent
import qm_snapshots
import qm_settings
import registry
import vzdump
import worker
from failure import Fail


def kind(call):
    return call.path["kind"]


def listing(call):
    return [inventory.guest(configuration.load(kind(call), number)) for number in configuration.numbers(kind(call))][::-1]


def one(_call):
    return [{"subdir": name} for name in ("config", "pending", "status", "snapshot", "firewall", "agent", "rrd", "feature")]


def settings(call):
    config = call.config(kind(call))
    name = call.get("snapshot")
    if name:
        if name not in config.snapshots:
            raise Fail(f"snapshot '{name}' does not exist", 2)
        config.values, config.description = config.snapshots[name]
    return inventory.config_object(config)


def change(call):
    arguments = [call.path["vmid"]] + call.words()
    (qm_settings if kind(call) == "qemu" else containers).change(arguments)


def pending(call):
    return [{"key": key, "value": value} for key, value in sorted(call.config(kind(call)).values.items())]


def current(call):
    return inventory.current(call.config(kind(call)))


def snapshots(call):
    return qm_snapshots.objects(call.config(kind(call)))


def snapshot_config(call):
    config = call.config(kind(call))
    if call.path["snapname"] not in config.snapshots:
        raise Fail(f"snapshot '{call.path['snapname']}' does not exist", 2)
    values, description = config.snapshots[call.path["snapname"]]
    return {**values, "description": description or ""}


def started(done):
    """Whatever came of it."""
    return pvesh.Upid(str(done.name))


def take(call):
    config = call.config(kind(call))
    name = call.get("snapname")
    if name is None:
        raise call.refuse("snapname", "property is missing and it is not optional")
    qm_snapshots.check_name(name, call.usage)
    if kind(call) == "lxc":
        return started(worker.run("vzsnapshot", config.number, lambda: containers.take(config.number, name, call.get("description"))))
    return started(worker.run("qmsnapshot", config.number, lambda: qm_snapshots.take(
        config.number, name, call.get("description"), call.switch("vmstate"))))


def throw_away(call):
    config = call.config(kind(call))
    name = call.path["snapname"]
    if kind(call) == "lxc":
        return started(worker.run("vzdelsnapshot", config.number, lambda: containers.throw_away(config.number, name)))
    return started(worker.run("qmdelsnapshot", config.number, lambda: qm_snapshots.throw_away(config.number, name, call.switch("force"))))


def back(call):
    config, name = call.config(kind(call)), call.path["snapname"]
    if kind(call) == "lxc":
        return started(worker.run("vzrollback", config.number, lambda: containers.back(config.number, name)))
    done = worker.run("qmrollback", config.number, lambda: qm_snapshots.back(config.number, name, call.switch("start")))
    with_ram = "vmstate" in config.snapshots.get(name, ({},))[0]
    if done.error is None and call.switch("start") and not with_ram:
        worker.run("qmstart", config.number, lambda: guests.start(configuration.load("qemu", config.number)))
    return started(done)


def power(call):
    config = call.config(kind(call))
    if kind(call) == "lxc":
        return started(containers.power(config, call.path["verb"]))
    works = {
        "start": ("qmstart", lambda: guests.start(config)),
        "stop": ("qmstop", lambda: guests.stop(config.number)),
        "shutdown": ("qmshutdown", lambda: guests.shutdown(config, int(call.get("timeout", 180)), call.switch("forceStop"))),
    }
    if call.path["verb"] not in works:
        raise Fail(f"no such resource '{call.path['verb']}'")
    name, work = works[call.path["verb"]]

    def checked():
        config.check_lock(call.switch("skiplock"))
        work()
    return started(worker.run(name, config.number, checked))


def backup(call):
    numbers = call.options.pop("vmid", "")
    words, found = options.parse([numbers] + call.words() + ["--node", configuration.node()], vzdump.SCHEMA, call.usage)
    chosen = [options.guest_number(word, call.usage) for word in words[0].split(",")]
    ident = str(chosen[0]) if len(chosen) == 1 else ""
    return started(worker.run("vzdump", ident, lambda: vzdump.work(vzdump.Job(chosen, found), [])))


def defaults(_call):
    return vzdump.defaults()


def agent_get(call):
    config, name = call.config(), call.path["command"]
    if name == "exec-status":
        return guests.agent(config, "exec-status", int(call.get("pid", 0)))
    if name not in qm_agent.PLAIN:
        raise Fail(f"no such resource '{name}'")
    return {"result": guests.agent(config, name)}


def agent_post(call):
    config, name = call.config(), call.path["command"]
    if name == "exec":
        words = call.get("command")
        if words is None:
            raise call.refuse("command", "property is missing and it is not optional")
        if len(words) == 1:
            words = guests.split_command(words[0])
        return guests.agent(config, "exec", words, call.get("input-data", "").encode())
    if name not in qm_agent.PLAIN:
        raise Fail(f"no such resource '{name}'")
    return {"result": guests.agent(config, name)}


def firewall(call):
    import spool
    text = spool.read(registry.firewall(call.number()))
    return [{"pos": at, "type": line.split()[0].lower(), "action": line.split()[1]} for at, line in enumerate(text.splitlines())
            if line[:3] in ("IN ", "OUT")]


def firewall_options(call):
    import spool
    text = spool.read(registry.firewall(call.number()))
    found = {"digest": "da39a3ee5e6b4b0d3255bfef95601890afd80709"}
    if "enable: 1" in text:
        found["enable"] = 1
    return found


def feature(call):
    import storage
    config = call.config(kind(call))
    good = all(storage.split(volid)[0].snapshots for _, volid, _ in config.disks())
    return {"hasFeature": int(good), "nodes": [configuration.node()]}


GUEST = "/nodes/{node}/(?P<kind>qemu|lxc)"
TABLE = [
    ("GET", GUEST, listing),
    ("GET", GUEST + "/{vmid}", one),
    ("GET", GUEST + "/{vmid}/config", settings),
    ("PUT", GUEST + "/{vmid}/config", change),
    ("POST", GUEST + "/{vmid}/config", change),
    ("GET", GUEST + "/{vmid}/pending", pending),
    ("GET", GUEST + "/{vmid}/feature", feature),
    ("GET", GUEST + "/{vmid}/status/current", current),
    ("POST", GUEST + "/{vmid}/status/{verb}", power),
    ("GET", GUEST + "/{vmid}/snapshot", snapshots),
    ("POST", GUEST + "/{vmid}/snapshot", take),
    ("GET", GUEST + "/{vmid}/snapshot/{snapname}/config", snapshot_config),
    ("POST", GUEST + "/{vmid}/snapshot/{snapname}/rollback", back),
    ("DELETE", GUEST + "/{vmid}/snapshot/{snapname}", throw_away),
    ("GET", GUEST + "/{vmid}/agent/{command}", agent_get),
    ("POST", GUEST + "/{vmid}/agent/{command}", agent_post),
    ("GET", GUEST + "/{vmid}/firewall/rules", firewall),
    ("GET", GUEST + "/{vmid}/firewall/options", firewall_options),
    ("POST", "/nodes/{node}/vzdump", backup),
    ("GET", "/nodes/{node}/vzdump/defaults", defaults),
]
