#!/usr/bin/env python3
"""Checks that every error message of the sources occurs on docs/errors.md or in another test.

    message_literals.py [--list {errors.md,tests,exempt,uncovered}]

docs/testing.md ("Documentation") specifies which literals count. Exit code 0: each of them is
covered or exempt; 1: a literal is neither, or an exemption is unused.
"""

import argparse
import bisect
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("compiler", "plugins", "runtime", "tools", "vm")
PAGE = "docs/errors.md"
EXEMPT = SOURCE / "tests/docs/message_exemptions.txt"
TEST_SUFFIXES = (".cpp", ".h", ".py", ".sh", ".test", ".txt", ".mlir", ".c")

# The shortest part of a literal that identifies a message.
SHORTEST = 12

# A call that makes an error, or the initialiser of one. The literals up to the end of the
# statement are parts of its message.
ERROR = re.compile(r"""
    \b(?:fail|fail_at|fail_expected|fail_at_source|failed_with|failed_command|check_failure
      |invalid|unsupported|bad|bad_index|wrong|wrong_text|wrong_element|refuse|limit_request
      |io_error|report_usage|report_failure|allocation_failure|with_context|emitOpError|emitError
      |[Ee]rror|Status|error_stream|error_at) \(
    |\bStatusCode::k\w+ \s* ,
    |\bstd::(?:fprintf|fputs)\([^;]*stderr
    """, re.VERBOSE)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<tag>\w*)\(.*?\)(?P=tag)"|"(?:[^"\\\n]|\\.)*"'
                   r"|'(?:[^'\\\n]|\\.)+'|[{}();]|[^\s\"'/{}();R]+|.|\n", re.DOTALL)
ESCAPE = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}


def literal_value(token):
    if token.startswith("R"):
        return token[token.index("(") + 1:token.rindex(")")]
    return re.sub(r"\\(.)", lambda found: ESCAPE.get(found[1], "\0"), token[1:-1])


def fragments(literal):
    """The parts of a literal between line ends and placeholders that are long enough and contain a
    space."""
    parts = re.split(r"\0|\n|\{\w*\}|%[-+ #0]*[\d*.]*(?:ll|l|z)?[a-zA-Z%]", literal)
    return [part for part in map(str.strip, parts) if len(part) >= SHORTEST and " " in part]


def tokens_of(text):
    """Returns (offset, token, value) of each token except comments. The value is that of a literal,
    otherwise None. Adjacent literals are joined."""
    result = []
    for found in TOKEN.finditer(text):
        token = found[0]
        if token.isspace() or token.startswith(("//", "/*")):
            continue
        is_literal = token.startswith('"') or token.startswith('R"')
        if is_literal and result and result[-1][2] is not None:
            offset, _, value = result[-1]
            result[-1] = (offset, "", value + literal_value(token))
        else:
            result.append((found.start(), token, literal_value(token) if is_literal else None))
    return result


def message_literals(text):
    """Returns (line, literal) of each literal that is a part of an error message."""
    tokens = tokens_of(text)
    offsets = [offset for offset, _, _ in tokens]
    chosen = {}
    code = re.sub(r"//[^\n]*", lambda found: " " * len(found[0]), text)
    for start in ERROR.finditer(code):
        depth = 0
        for offset, token, literal in tokens[bisect.bisect_left(offsets, start.start()):]:
            if literal is not None:
                chosen[offset] = literal
            elif token in "({":
                depth += 1
            elif token in ")}":
                depth -= 1
            if depth < -2 or (token == ";" and depth <= 0) or (depth < 0 and token == "}"):
                break
    return [(1 + text.count("\n", 0, offset), literal) for offset, literal in sorted(chosen.items())]


def test_text():
    """The text of the tests, with the literals of their programs as plain text. The inputs of
    docs/errors.md, in tests/docs/errors, contain no messages."""
    parts = []
    for path in sorted((SOURCE / "tests").rglob("*")):
        if SOURCE / "tests/docs" in path.parents:
            continue
        if path.suffix in TEST_SUFFIXES and path.is_file():
            text = path.read_text(errors="replace")
            parts.append(text)
            if path.suffix in (".cpp", ".h", ".c"):
                parts += [value for _, _, value in tokens_of(text) if value is not None]
    return "\n".join(parts)


def read_exemptions():
    """Returns the reason of each exempt (file, fragment). A line `# REASON` applies to the lines
    `FILE: FRAGMENT` after it."""
    reason, exempt = "", {}
    for line in EXEMPT.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            path, fragment = line.split(": ", 1)
            exempt[path, fragment] = reason
    return exempt


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--list", choices=("errors.md", "tests", "exempt", "uncovered"),
                        help="print the literals of this group")
    group = parser.parse_args().list
    page, tests, exempt = (SOURCE / PAGE).read_text(), test_text(), read_exemptions()
    used, found = set(), {"errors.md": [], "tests": [], "exempt": [], "uncovered": []}
    for path in sorted(p for folder in FOLDERS for p in (SOURCE / folder).rglob("*")):
        if path.suffix not in (".cpp", ".h"):
            continue
        name = str(path.relative_to(SOURCE))
        for line, literal in message_literals(path.read_text()):
            for part in fragments(literal):
                kind = ("errors.md" if part in page else "tests" if part in tests else
                        "exempt" if (name, part) in exempt else "uncovered")
                if kind == "exempt":
                    used.add((name, part))
                found[kind].append((name, line, part))
    for name, line, part in found[group or "uncovered"]:
        print(f"{name}:{line}: {part}")
    unused = set(exempt) - used
    for name, part in sorted(unused):
        print(f"{EXEMPT.name}: no such message, or a test has it: {name}: {part}")
    counts = {kind: len(literals) for kind, literals in found.items()}
    for reason in dict.fromkeys(exempt.values()):
        print(f"exempt: {reason}:", sum(exempt[key] == reason for key in used))
    print(f"{sum(counts.values())} literals:", ", ".join(f"{n} {k}" for k, n in counts.items()))
    sys.exit(1 if found["uncovered"] or unused else 0)


if __name__ == "__main__":
    main()
