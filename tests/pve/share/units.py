"""Sizes and times as the node's programs print them: binary, and cut or rounded as each one does."""

import time

import faults

NAMES = ["B", "KiB", "MiB", "GiB", "TiB"]


def size(count, digits=1):
    """`232.8 MiB`; bytes have no digits."""
    value, at = float(count), 0
    while value >= 1024 and at < len(NAMES) - 1:
        value /= 1024
        at += 1
    if at == 0 and digits == 1:
        return f"{int(value)} B"
    return point(f"{value:.{digits}f} {NAMES[at]}")


def point(text):
    """With a comma where that is asked for."""
    return text.replace(".", ",") if faults.words("comma") is not None else text


def transferred(count):
    """As image converters print it: `0.0 B`, `14.7 MiB`."""
    return "0.0 B" if count == 0 else size(count)


def archive(count):
    """`258MB`, `8.97GB`: divided by 1024, and cut below one GB."""
    if count >= 1 << 40:
        return point(f"{count / (1 << 40):.2f}TB")
    if count >= 1 << 30:
        return point(f"{count / (1 << 30):.2f}GB")
    if count >= 1 << 20:
        return f"{count >> 20}MB"
    return f"{count >> 10}KB"


def disk(count):
    """The size in a configuration: `1G`, `1536M`, `528K`, or bytes."""
    for shift, name in ((30, "G"), (20, "M"), (10, "K")):
        if count and count % (1 << shift) == 0:
            return f"{count >> shift}{name}"
    return str(count)


def parse_disk(text):
    """The bytes of `1G`, `528K` or `1024`."""
    shifts = {"K": 10, "M": 20, "G": 30, "T": 40}
    if text and text[-1] in shifts:
        return int(float(text[:-1]) * (1 << shifts[text[-1]]))
    return int(text)


def duration(seconds):
    """`14s`, `1m 3s`, `1h 2m 3s`."""
    seconds = int(seconds)
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    if hours:
        return f"{hours}h {minutes}m {rest}s"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def clock(seconds):
    """`00:01:14`."""
    seconds = int(seconds)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def date(at=None):
    """The node's time without a zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def utc(at):
    """As the names of snapshots on a backup server."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
