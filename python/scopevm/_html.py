"""Tables of notebooks, and sizes for people."""

import html


def table(head, rows):
    """A table of HTML. Numbers are aligned to the right."""
    def cell(value):
        if isinstance(value, int):
            return f'<td style="text-align:right">{value:,}</td>'
        return f'<td style="text-align:left">{html.escape(str(value))}</td>'

    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    lines = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>"


def size_text(count):
    """Such as "25 KiB" or "3.9 KiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    digits = f"{value:.1f}".removesuffix(".0")
    return f"{digits} {unit}"
