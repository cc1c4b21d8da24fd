"""`ha-manager`: which guests the cluster keeps running."""

import command
import config as configuration
import registry
import spool
import storage
from command import out
from failure import Fail


def status():
    out("quorum OK")
    out(f"master {configuration.node()} (active)" if registry.ha_resources() else "no active master")
    for name, values in registry.ha_resources():
        out(f"service {name} ({configuration.node()}, {values.get('state', 'started')})")


def show():
    for name, values in registry.ha_resources():
        out(name)
        for key in sorted(values):
            out(f"\t{key} {values[key]}")


def run(arguments):
    verb = arguments[0] if arguments else ""
    if verb == "status":
        return status()
    if verb == "config":
        return show()
    sections = storage.parse(spool.read(registry.HA))
    if verb == "add" and len(arguments) > 1:
        kind, _, number = arguments[1].partition(":")
        spool.write(registry.HA, storage.text_of(sections + [(kind, number, {"state": "started"})]))
        return 0
    if verb == "remove" and len(arguments) > 1:
        left = [section for section in sections if f"{section[0]}:{section[1]}" != arguments[1]]
        if left == sections:
            raise Fail(f"delete resource failed: no such resource '{arguments[1]}'")
        spool.write(registry.HA, storage.text_of(left))
        return 0
    raise Fail("ERROR: no command specified\nUSAGE: ha-manager <COMMAND> [ARGS] [OPTIONS]")


def main():
    command.run(run)
