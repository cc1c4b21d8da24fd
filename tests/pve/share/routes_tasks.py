"""Tasks, as the interface tells them: what ran, what runs, their logs, and their end."""

import os
import signal
import time

import tasks
import upid


def entry(found, with_saved):
    fields = found.upid.fields()
    if found.end is not None:
        fields.update({"endtime": found.end, "status": found.status})
    else:
        fields["status"] = "RUNNING"
    if with_saved:
        fields["saved"] = "1" if found.end is not None else "0"
    return fields


def kind_of(status):
    if status == "OK":
        return "ok"
    if status.startswith("WARNINGS: "):
        return "warning"
    return "unknown" if status == "unexpected status" else "error"


def listing(call):
    source = call.get("source", "archive")
    active = tasks.refresh()
    if source == "archive":
        found = tasks.read_index()
    elif source == "active":
        found = active
    elif source == "all":
        names = {item.name for item in active}
        found = active + [item for item in tasks.read_index() if item.name not in names]
    else:
        raise call.refuse("source", f"value '{source}' does not have a value in the enumeration 'archive, active, all'")
    chosen = [item for item in found if matches(call, item)]
    begin, limit = int(call.get("start", 0)), int(call.get("limit", 50))
    return [entry(item, source != "archive") for item in chosen[begin:begin + limit]]


def matches(call, item):
    name, status = item.upid, item.status or "RUNNING"
    wanted = call.get("statusfilter")
    return (
        call.get("typefilter") in (None, name.kind)
        and call.get("vmid") in (None, name.id)
        and (call.get("userfilter") or "") in name.user
        and name.start >= int(call.get("since", 0))
        and (call.get("until") is None or name.start <= int(call.get("until")))
        and (not call.switch("errors") or (item.end is not None and status != "OK"))
        and (wanted is None or (item.end is not None and kind_of(status) in wanted.split(",")))
    )


def named(call):
    name = upid.parse(call.path["upid"])
    if name is None:
        raise call.refuse("upid", "unable to parse worker upid")
    if not os.path.exists(name.log()):
        raise call.refuse("upid", "no such task")
    return name


def status(call):
    name = named(call)
    fields = name.fields()
    if name.is_running():
        fields["status"] = "running"
    else:
        fields.update({"status": "stopped", "exitstatus": tasks.status_of(name.log())})
    return fields


def log(call):
    begin, limit = int(call.get("start", 0)), int(call.get("limit", 50))
    with open(named(call).log(), encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        return [{"n": 1, "t": "no content"}]
    end = len(lines) if limit == 0 else begin + limit
    return [{"n": at + 1, "t": lines[at]} for at in range(begin, min(end, len(lines)))]


def stop(call):
    """TERM, and KILL after five seconds."""
    name = named(call)
    if not name.is_running():
        return None
    for number, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(name.pid, number)
        except ProcessLookupError:
            break
        until = time.monotonic() + seconds
        while name.is_running() and time.monotonic() < until:
            time.sleep(0.1)
        if not name.is_running():
            break
    # The list is brought up to date a moment later.
    time.sleep(0.3)
    tasks.refresh()
    return None


def index(_call):
    return [{"name": "log"}, {"name": "status"}]


TABLE = [
    ("GET", "/nodes/{node}/tasks", listing),
    ("GET", "/nodes/{node}/tasks/{upid}", index),
    ("GET", "/nodes/{node}/tasks/{upid}/status", status),
    ("GET", "/nodes/{node}/tasks/{upid}/log", log),
    ("DELETE", "/nodes/{node}/tasks/{upid}", stop),
]
