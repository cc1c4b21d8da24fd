"""`qm agent` and `qm guest`: what a guest's agent is asked."""

import sys
import time

import config as configuration
import guests
import jsonish
import options
from command import out
from failure import Fail
from options import BOOL, INT

# Said to the agent without more.
PLAIN = (
    "fsfreeze-freeze", "fsfreeze-status", "fsfreeze-thaw", "fstrim", "get-fsinfo", "get-host-name",
    "get-osinfo", "info", "network-get-interfaces", "ping",
)


def pretty(value):
    out(jsonish.pretty(value))


def agent(arguments):
    usage = "qm guest cmd <vmid> <command>"
    words, _ = options.parse(arguments, {}, usage)
    if len(words) < 2:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    if words[1] not in PLAIN:
        raise options.refused("command", f"value '{words[1]}' does not have a value in the enumeration '{', '.join(PLAIN)}'", usage)
    config = configuration.load("qemu", options.guest_number(words[0], usage))
    found = guests.agent(config, words[1], timeout=10 if words[1].startswith("fsf") else 3)
    if found != {}:
        pretty(found)


def guest(arguments):
    if arguments and arguments[0] in ("cmd", "exec", "exec-status"):
        return {"cmd": agent, "exec": execute, "exec-status": exec_status}[arguments[0]](arguments[1:])
    raise Fail("ERROR: unknown command 'qm guest'\nUSAGE: qm guest <COMMAND> [ARGS] [OPTIONS]", 255)


def execute(arguments):
    usage = "qm guest exec <vmid> [<extra-args>] [OPTIONS]"
    before, after = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        before, after = arguments[:at], arguments[at + 1:]
    schema = {"synchronous": BOOL, "timeout": INT, "pass-stdin": BOOL}
    words, found = options.parse(before, schema, usage)
    if not words:
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    config = configuration.load("qemu", options.guest_number(words[0], usage))
    given = sys.stdin.buffer.read(1 << 20) if found.get("pass-stdin") else b""
    answer = guests.agent(config, "exec", words[1:] + after, given)
    if found.get("synchronous", True):
        answer = wait(config, answer, found.get("timeout", 30))
    pretty(answer)


def wait(config, answer, timeout):
    """Its end, or its pid where it has not ended in time."""
    until = time.monotonic() + timeout
    while timeout == 0 or time.monotonic() < until:
        status = guests.agent(config, "exec-status", answer["pid"])
        if status["exited"]:
            return status
        time.sleep(1)
    return answer


def exec_status(arguments):
    usage = "qm guest exec-status <vmid> <pid>"
    words, _ = options.parse(arguments, {}, usage)
    if len(words) < 2 or not words[1].isdigit():
        raise Fail(f"400 not enough arguments\n{usage}", 255)
    config = configuration.load("qemu", options.guest_number(words[0], usage))
    pretty(guests.agent(config, "exec-status", int(words[1])))
