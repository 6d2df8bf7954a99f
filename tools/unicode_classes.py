#!/usr/bin/python3
"""Writes compiler/import/ops/string/unicode_classes.cpp: the general categories and the scripts of
Unicode 15.1, from the files UnicodeData.txt and Scripts.txt of the Unicode Character Database 15.0.

    tools/unicode_classes.py [FOLDER]    FOLDER (/usr/share/unicode) contains both files; Debian's
                                         package unicode-data has them
"""
import collections
import pathlib
import re
import sys

_OUTPUT = pathlib.Path(__file__).parents[1] / "compiler/import/ops/string/unicode_classes.cpp"
_COLUMNS = 100
# The characters of Unicode 15.1 that are new: first, last, category and script.
_NEW = ((0x2ffc, 0x2fff, "So", "Common"), (0x31ef, 0x31ef, "So", "Common"),
        (0x2ebf0, 0x2ee5d, "Lo", "Han"))


def _categories(folder):
    """The characters of each category."""
    found, first = collections.defaultdict(list), None
    for line in (folder / "UnicodeData.txt").read_text().splitlines():
        code, name, category = line.split(";")[:3]
        code = int(code, 16)
        if name.endswith("First>"):
            first = code
            continue
        found[category] += range(code if first is None else first, code + 1)
        first = None
    return found


def _scripts(folder):
    found = collections.defaultdict(list)
    for line in (folder / "Scripts.txt").read_text().splitlines():
        match = re.match(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; (\w+)", line)
        if match:
            first, last, name = match.groups()
            found[name] += range(int(first, 16), int(last or first, 16) + 1)
    return found


def _runs(characters):
    """Ascending characters as runs: (first, count, step)."""
    runs, at = [], 0
    while at < len(characters):
        end = at + 1
        step = characters[end] - characters[at] if end < len(characters) else 1
        while end < len(characters) and characters[end] - characters[end - 1] == step:
            end += 1
        if step > 2 or (step == 2 and end - at < 3):  # several runs of single characters
            step, end = 1, at + 1
        runs.append((characters[at], end - at, step))
        at = end
    return runs


def _encoded(characters):
    previous, parts = 0, []
    for first, count, step in _runs(sorted(characters)):
        part = f"{first - previous:x}"
        if count > 1:
            part += f":{count:x}" + (":2" if step == 2 else "")
        parts.append(part)
        previous = first + (count - 1) * step
    return parts


def _row(name, parts):
    """The initializer of a class, with string literals of the parts, separated by spaces."""
    row, line = "", f'    {{"{name}", "'
    for i, part in enumerate(parts):
        part += " " if i + 1 < len(parts) else ""
        if len(line) + len(part) + len('"},') > _COLUMNS:
            row += line + '"\n'
            line = '     "'
        line += part
    return row + line + '"},'


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")
    if not (folder / "Scripts.txt").read_text().startswith("# Scripts-15.0.0.txt"):
        sys.exit(f"{folder} does not contain the files of Unicode 15.0")
    classes = {**_categories(folder), **_scripts(folder)}
    for first, last, *names in _NEW:
        for name in names:
            classes[name] += range(first, last + 1)
    rows = [_row(name, _encoded(classes[name])) for name in sorted(classes)]
    _OUTPUT.write_text(f"""\
// General categories and scripts of Unicode 15.1. Written by tools/unicode_classes.py.
#include "compiler/import/ops/string/unicode_classes.h"

namespace scopevm::compiler::frontend {{

// clang-format off
const UnicodeClass kUnicodeClasses[] = {{
{chr(10).join(rows)}
}};
// clang-format on

const size_t kUnicodeClassCount = sizeof(kUnicodeClasses) / sizeof(kUnicodeClasses[0]);

}}  // namespace scopevm::compiler::frontend
""")


if __name__ == "__main__":
    main()
