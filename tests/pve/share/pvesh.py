"""`pvesh`: the node's interface on the command line. Routes are in `routes*.py`."""

import re
import sys

import command
import config as configuration
import options
import routes
import routes_guests
import routes_storage
import routes_tasks
import table
import jsonish
from command import out
from failure import Fail

USAGE = "pvesh {} <api_path> [OPTIONS] [FORMAT_OPTIONS]"
VERBS = {"get": "GET", "ls": "GET", "create": "POST", "set": "PUT", "delete": "DELETE"}
FORMATS = ("text", "json", "json-pretty", "yaml")


class Call:
    """A path's parameters, and the options."""

    def __init__(self, verb, found, options_given):
        self.usage = USAGE.format(verb)
        self.path, self.options = found, options_given

    def number(self):
        return options.guest_number(self.path["vmid"], self.usage)

    def get(self, name, default=None):
        return self.options.get(name, default)

    def switch(self, name, default=False):
        value = self.options.get(name)
        return default if value is None else value in ("1", "yes", "on", "true")

    def config(self, kind="qemu"):
        return configuration.load(kind, self.number())

    def words(self):
        """As options of another program."""
        return [part for name, value in self.options.items() for part in (f"--{name}", value)]

    def refuse(self, name, why):
        return options.refused(name, why, self.usage)


class Upid:
    """What a task that was started answers with; its exit status is not told."""

    def __init__(self, name):
        self.name = name


def given(arguments):
    """Any option: which ones there are is the route's to say."""
    found, shape, rest = {}, {"output-format": "text"}, list(arguments)
    while rest:
        word = rest.pop(0)
        match = re.fullmatch(r"--?([A-Za-z][\w-]*)(?:=(.*))?", word, re.S)
        if not match:
            raise Fail(f"400 too many arguments\n{USAGE.format('get')}", 255)
        name, value = match.groups()
        if name in ("noborder", "noheader", "quiet", "human-readable"):
            shape[name] = rest.pop(0) if rest and rest[0] in ("0", "1") else "1"
            continue
        if value is None:
            value = rest.pop(0) if rest and not re.match(r"--\w", rest[0]) else "1"
        if name == "output-format":
            shape[name] = value
        elif name in found and isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = value if name != "command" else [value]
    return found, shape


def check_node(path):
    match = re.match(r"/nodes/([^/]+)", path)
    name = match.group(1) if match else None
    if name and name not in (configuration.node(), "localhost"):
        raise Fail(f"hostname lookup '{name}' failed - failed to get address info for: {name}: Name or service not known", 2)


def find(method, path):
    tables = (routes.TABLE, routes_guests.TABLE, routes_storage.TABLE, routes_tasks.TABLE)
    known = False
    for row in (row for rows in tables for row in rows):
        match = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", row[1]), path)
        if match and row[0] == method:
            return row[2], match.groupdict()
        known = known or match
    if known:
        raise Fail(f"No '{method.lower()}' handler defined for '{path}'", 255)
    raise Fail(f"No '{method.lower()}' handler defined for '{path}'" if method != "GET" else f"no such resource '{path}'", 255)


def show(found, shape):
    form = shape["output-format"]
    if isinstance(found, Upid):
        out(jsonish.text(found.name) if form.startswith("json") else found.name)
    elif found is None:
        pass
    elif form == "json":
        out(jsonish.tight(found))
    elif form == "json-pretty":
        out(jsonish.pretty(found))
    else:
        for line in table.lines(found, shape.get("noborder") == "1", shape.get("noheader") == "1"):
            out(line)


def run(arguments):
    if len(arguments) < 2 or arguments[0] not in VERBS:
        raise Fail("ERROR: no command specified\nUSAGE: pvesh <COMMAND> [ARGS] [OPTIONS]", 255)
    verb, path = arguments[0], "/" + arguments[1].strip("/")
    found, shape = given(arguments[2:])
    if shape["output-format"] not in FORMATS:
        raise options.refused("output-format", f"value '{shape['output-format']}' does not have a value in the enumeration '{', '.join(FORMATS)}'", USAGE.format(verb))
    check_node(path)
    route, parameters = find(VERBS[verb], path)
    show(route(Call(verb, parameters, found)), shape)
    return 0


def main():
    sys.modules.setdefault("pvesh", sys.modules[__name__])
    command.run(run)
