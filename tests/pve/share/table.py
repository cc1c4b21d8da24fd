"""Answers as text: tables with lines around, also where no terminal is."""


def cell(value):
    import jsonish
    if value is None:
        return ""
    return jsonish.tight(value) if isinstance(value, (dict, list)) else str(value)


def lines(found, no_border, no_header):
    if isinstance(found, dict):
        rows = [["key", "value"]] + [[key, cell(found[key])] for key in sorted(found)]
    elif isinstance(found, list) and found and isinstance(found[0], dict):
        keys = sorted({key for item in found for key in item})
        rows = [keys] + [[cell(item.get(key)) for key in keys] for item in found]
    elif isinstance(found, list):
        rows = [[""]] + [[cell(item)] for item in found]
        if not found:
            return []
    else:
        return cell(found).split("\n")
    if no_header:
        rows = rows[1:]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))] if rows else []
    if no_border:
        return [" ".join(f"{text:<{width}}" for text, width in zip(row, widths)) for row in rows]
    return framed(rows, widths, no_header)


def framed(rows, widths, no_header):
    def rule(left, middle, right, line):
        return left + middle.join(line * (width + 2) for width in widths) + right

    drawn = [rule("┌", "┬", "┐", "─")]
    for at, row in enumerate(rows):
        drawn.append("│" + "│".join(f" {text:<{width}} " for text, width in zip(row, widths)) + "│")
        if at < len(rows) - 1:
            head = at == 0 and not no_header
            drawn.append(rule("╞", "╪", "╡", "═") if head else rule("├", "┼", "┤", "─"))
    return drawn + [rule("└", "┴", "┘", "─")]
