"""JSON, in the two shapes that the node's programs print; text may be bytes as they came."""

import re

ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def text(value):
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    return '"' + re.sub(r'["\\\x00-\x1f]', lambda found: ESCAPES.get(found.group(), f"\\u{ord(found.group()):04x}"), value) + '"'


def plain(value):
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (str, bytes)):
        return text(value)
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value)


def tight(value):
    """On one line, keys in their order."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{text(key)}:{tight(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(tight, value)) + "]"
    return plain(value)


def pretty(value, depth=0):
    """Three blanks a level, and a blank before the colon."""
    inner, outer = "   " * (depth + 1), "   " * depth
    if isinstance(value, dict) and value:
        lines = [f"{inner}{text(key)} : {pretty(value[key], depth + 1)}" for key in sorted(value)]
        return "{\n" + ",\n".join(lines) + f"\n{outer}}}"
    if isinstance(value, (list, tuple)) and value:
        return "[\n" + ",\n".join(inner + pretty(item, depth + 1) for item in value) + f"\n{outer}]"
    if isinstance(value, dict):
        return "{}"
    return "[]" if isinstance(value, (list, tuple)) else plain(value)
