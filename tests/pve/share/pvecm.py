"""`pvecm`: the cluster that the node is in, if it is in one."""

import os

import command
import config as configuration
from command import out
from failure import Fail


def run(arguments):
    nodes = sorted(os.listdir("/etc/pve/nodes"))
    if not arguments or arguments[0] not in ("status", "nodes"):
        raise Fail("ERROR: no command specified\nUSAGE: pvecm <COMMAND> [ARGS] [OPTIONS]")
    if len(nodes) == 1:
        raise Fail("Error: Corosync config '/etc/pve/corosync.conf' does not exist - is this node part of a cluster?", 2)
    out("\nMembership information\n----------------------\n    Nodeid      Votes Name")
    for at, name in enumerate(nodes, 1):
        out(f"{at:>10}{1:>11} {name}{' (local)' if name == configuration.node() else ''}")
    return 0


def main():
    command.run(run)
