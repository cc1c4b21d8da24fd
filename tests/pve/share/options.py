"""Command lines as the node's programs read them: `--name value`, `--name=value`, `-name value`, and
a switch whose value may be left out."""

import re

from failure import Fail

BOOL = "boolean"
INT = "integer"
TEXT = "string"
# May be left out, and is asked for then.
SECRET = "secret"


def refused(name, why, usage, code=2):
    """A parameter that does not hold."""
    gap = "\n" if usage.startswith("qm ") else ""
    return Fail(f"400 Parameter verification failed.\n{name}: {why}\n{gap}{usage}", code)


def value_of(name, kind, text, usage):
    if kind == BOOL:
        if re.fullmatch(r"1|on|yes|true", text, re.I):
            return True
        if re.fullmatch(r"0|off|no|false", text, re.I):
            return False
        raise refused(name, f"type check ('boolean') failed - got '{text}'", usage)
    if kind == INT:
        if not re.fullmatch(r"-?\d+", text):
            raise refused(name, f"type check ('integer') failed - got '{text}'", usage)
        return int(text)
    if isinstance(kind, tuple) and text not in kind:
        choices = ", ".join(kind)
        raise refused(name, f"value '{text}' does not have a value in the enumeration '{choices}'", usage)
    return text


def parse(arguments, schema, usage):
    """The words and the options. A name of the schema that ends with a star stands for all that
    begin so and end with a number."""
    words, found = [], {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        match = re.fullmatch(r"--?([A-Za-z][\w-]*)(?:=(.*))?", word, re.S)
        if not match:
            words.append(word)
            continue
        name, text = match.groups()
        kind = schema.get(name) or schema.get(re.sub(r"\d+$", "*", name))
        if kind is None:
            raise Fail(f"Unknown option: {name}\n400 unable to parse option\n{usage}", 255)
        if text is None and kind == BOOL:
            switch = rest and re.fullmatch(r"0|1|on|off|yes|no|true|false", rest[0], re.I)
            text = rest.pop(0) if switch else "1"
        elif text is None and kind == SECRET:
            text = rest.pop(0) if rest and not rest[0].startswith("-") else ""
        elif text is None:
            if not rest:
                raise Fail(f"Option {name} requires an argument\n400 unable to parse option\n{usage}", 255)
            text = rest.pop(0)
        value = value_of(name, kind, text, usage)
        if name == "delete" and name in found:
            value = f"{found[name]},{value}"
        found[name] = value
    return words, found


def guest_number(text, usage):
    if not re.fullmatch(r"[1-9]\d{2,8}", text):
        raise refused("vmid", "invalid format - value does not look like a valid VM ID", usage)
    return int(text)


def settings(found, special):
    """What is kept as it is given, but for flags, which are 0 or 1."""
    for key, value in found.items():
        if key not in special:
            yield key, int(value) if isinstance(value, bool) else value
