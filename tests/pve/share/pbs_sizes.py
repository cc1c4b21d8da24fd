"""Sizes as the backup server's programs print them: three decimals, and no zeros at their end."""

NAMES = ["B", "KiB", "MiB", "GiB", "TiB"]


def human(count):
    value, at = float(count), 0
    while value >= 1024 and at < len(NAMES) - 1:
        value, at = value / 1024, at + 1
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return f"{text} {NAMES[at]}"
