#!/usr/bin/env python3
"""Runs the commands that a documentation page shows, and compares their output with the page.

    run_commands.py PAGE BIN_FOLDER [--update]

docs/testing.md ("Documentation") specifies the syntax of a page. Exit code 0: the page is correct;
1: it is not; 77: none of its commands could run on this machine.
"""

import argparse
import dataclasses
import difflib
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# Matches a line that shows a command. Such lines are errors outside `console` and `sh` blocks.
COMMAND_LINE = re.compile(r"(\w+=\S* )*(\$|scopevm|scopevm-opt|\./dev|build/\S+/bin/\S+|cmake|ctest"
                          r"|(bench|tests|tools)/\S+\.(py|sh)) ")
OPTION = re.compile(r"\[?(--[a-z][\w-]*)")
# A shown line of this form permits, and requires, an exit code from 1 to 3. Indented lines are
# messages that show_errors.py prints.
ERROR = re.compile(r"(scopevm|scopevm-opt|dev): (?!warning)|(\S.*)?\berror: ")

NO_OPENCL = "not run: no OpenCL device"


@dataclasses.dataclass
class Block:
    info: list  # the words after the fence; empty for an indented block
    first: int  # index of the first line of the contents in the page
    indent: int
    lines: list


@dataclasses.dataclass
class Command:
    text: str
    first: int  # index of the line of `$ ` in the page
    begin: int  # the lines [begin, end) of the page show the output
    end: int
    shown: list


def read_page(text):
    """The code blocks of a page, and its text without them."""
    blocks, prose, fence = [], [], None
    for index, line in enumerate(text.split("\n")):
        if fence:
            if line.strip() == "```":
                blocks.append(fence)
                fence = None
            else:
                fence.lines.append(line[fence.indent:].rstrip())
        elif opened := re.fullmatch(r"( *)```(.*)", line):
            fence = Block(opened[2].split() or ["text"], index + 1, len(opened[1]), [])
        elif line.startswith("    "):
            blocks.append(Block([], index, len(line) - len(line.lstrip()), [line.strip()]))
        else:
            prose.append(line)
    if fence:
        sys.exit(f"line {fence.first}: a block without an end")
    return blocks, "\n".join(prose)


def console_commands(block):
    """The commands of a `console` block. A `\\` at the end of a line continues a command."""
    commands, index = [], 0
    while index < len(block.lines):
        first, text = index, block.lines[index].removeprefix("$ ")
        while text.endswith("\\") and index + 1 < len(block.lines):
            index += 1
            text += "\n" + block.lines[index]
        index += 1
        begin = index
        while index < len(block.lines) and not block.lines[index].startswith("$ "):
            index += 1
        commands.append(Command(text, block.first + first, block.first + begin,
                                block.first + index, block.lines[begin:index]))
    return commands


def matches(shown, actual):
    """Whether the output matches. `...` at the end of a shown line matches the rest of the line. A
    line with only `...` matches any number of lines."""
    def pattern(line):
        if line.strip() == "...":
            return "(?:.*\n)*?"
        if line.endswith("..."):
            return re.escape(line[:-3]) + ".*\n"
        return re.escape(line) + "\n"
    return re.fullmatch("".join(map(pattern, shown)), "".join(f"{a}\n" for a in actual)) is not None


def updated(shown, actual):
    """The actual output, abbreviated by the `...` of the shown output that still apply."""
    # Replaces a shown line by the first actual line that it matches, so that both compare equal.
    keys = [next((a for a in actual if line.strip() != "..." and matches([line], [a])), line)
            for line in shown]
    lines = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, keys, actual, False).get_opcodes():
        chunk = [line.strip() for line in shown[i:j]]
        if kind == "equal":
            lines += shown[i:j]
        elif "..." in chunk:
            before = chunk.index("...")
            after = max(k + before, m - (len(chunk) - before - 1))
            lines += actual[k:k + before] + ["..."] + actual[after:m]
        else:
            lines += actual[k:m]
    return lines if matches(lines, actual) else actual


def statements(script):
    """The words of each simple command of a shell script, without assignments and redirections."""
    script = re.sub(r"(^|\s)#\s.*", "", script.replace("\\\n", " "), flags=re.MULTILINE)
    lexer = shlex.shlex(script, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    words, redirected = [], False
    for token in [*lexer, "\n"]:
        if set(token) <= set(";&|()\n"):
            if words and words[0] not in ("for", "done", "fi", "}"):
                yield words
            words = []
        elif set(token) <= set("<>&"):
            redirected = True
        elif redirected:
            redirected = False
        elif words or not (re.match(r"\w+=", token) or token in ("do", "then", "else", "{", "!")):
            words.append(token)


class Tree:
    """A scratch folder in which the entries of the source tree and build/release can be read."""

    def __init__(self, folder, bin_folder):
        self.folder = pathlib.Path(folder)
        for entry in SOURCE.iterdir():
            if entry.name != "build" and not entry.name.startswith("."):
                (self.folder / entry.name).symlink_to(entry)
        (self.folder / "build").mkdir()
        (self.folder / "build/release").symlink_to(bin_folder.parent)
        path = f"{bin_folder}:{os.environ['PATH']}"
        self.environment = {**os.environ, "LC_ALL": "C", "PATH": path}

    def start_bash(self, *arguments):
        return subprocess.Popen(["bash", "-o", "pipefail", *arguments], cwd=self.folder,
                                env=self.environment, stdin=subprocess.PIPE, errors="replace",
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def bash(self, script, *options):
        """The exit code and the lines of the output of a script in a shell of its own."""
        with self.start_bash(*options, "-c", script) as shell:
            output, _ = shell.communicate()
        return shell.returncode, output.splitlines()

    @functools.cached_property
    def shell(self):
        """The shell of the page's commands."""
        return self.start_bash()

    def run(self, command):
        """The exit code and the lines of the output of a command in the shell of the page."""
        self.shell.stdin.write(f"eval {shlex.quote(command)} </dev/null; printf '\\036%d\\n' $?\n")
        self.shell.stdin.flush()
        output, line = "", ""
        while "\036" not in line:
            output += line
            line = self.shell.stdout.readline()
            if not line:
                sys.exit(f"{output}the command ended the shell: {command}")
        last, code = line.split("\036")
        return int(code), [line.rstrip() for line in (output + last).splitlines()]

    @functools.cached_property
    def has_opencl(self):
        return '"kind": "opencl"' in " ".join(self.bash("scopevm machine")[1])

    @functools.cached_property
    def subcommands(self):
        """The subcommands of programs that have them."""
        return {program: set(re.findall(r"^  ([a-z-]+)\s", "\n".join(self.bash(menu)[1]), re.M))
                for program, menu in (("scopevm", "scopevm --help"), ("./dev", "./dev"))}

    def commands_of(self, program, group):
        """The commands of a group of `scopevm`, such as "alloc record"; empty for a command."""
        listed = self.help(program, group).partition("\nSubcommands:\n")[2]
        return [f"{group} {name}" for name in re.findall(r"^  ([a-z-]+)\s", listed, re.M)]

    @functools.lru_cache(None)
    def help(self, program, subcommand):
        """The text that lists the options of a program: its --help, or the source of a script."""
        if program == "./dev":
            scripts = [SOURCE / "dev", *(SOURCE / "tools" / subcommand).glob("*.*")]
            return "\n".join(script.read_text() for script in scripts)
        if program.endswith((".py", ".sh")):
            return (SOURCE / program).read_text()
        text = "\n".join(self.bash(f"{program} {subcommand} --help")[1])
        # `scopevm alloc` is a group: its options are those of its subcommands.
        for name in re.findall(r"^  ([a-z-]+)\s", text.partition("\nSubcommands:\n")[2], re.M):
            if subcommand:
                text += "\n".join(self.bash(f"{program} {subcommand} {name} --help")[1])
        return text

    @functools.cached_property
    def all_help(self):
        """The help of all programs with options of this project."""
        names = sorted(self.subcommands["scopevm"])
        names += [inner for name in names for inner in self.commands_of("scopevm", name)]
        strings = [self.help("scopevm", name) for name in names]
        strings += [self.help(name, "") for name in ("scopevm", "scopevm-opt", "property_fuzz",
                                                   "conformance", "memory_requests_bench",
                                                   "runtime_device_bench",
                                                   "pooling_kernel_test", "ctest")]
        strings += [self.help("./dev", "compare"), self.help("tests/docs/run_commands.py", "")]
        return "\n".join(strings)

    def errors_of_words(self, words):
        """The subcommand and the options of a command that do not exist."""
        program, subcommand, known = words[0], "", None
        if program in self.subcommands and len(words) > 1 and re.fullmatch("[a-z][a-z-]*", words[1]):
            subcommand = words[1]
            if subcommand not in self.subcommands[program]:
                yield f"no subcommand {subcommand} of {program}"
                return
            if program == "scopevm" and " ".join(words[1:3]) in self.commands_of(program, subcommand):
                subcommand = " ".join(words[1:3])
        if OPTION.match(program):  # in the text, an option without its program
            program, known = "any program", self.all_help
        own = words[:words.index("--")] if "--" in words else words
        options = [found[1] for word in own if (found := OPTION.match(word))]
        for option in options:
            known = known or self.help(program, subcommand)
            if not re.search(re.escape(option) + r"(?![\w-])", known):
                yield f"no option {option} of " + f"{program} {subcommand}".strip()

    def has_program(self, name):
        return self.bash(f"type -t {shlex.quote(name)}")[0] == 0


class Checker:
    """Checks one page in one scratch folder."""

    def __init__(self, page, tree, update):
        self.page, self.tree, self.update = page, tree, update
        self.text = (SOURCE / page).read_text()
        self.counts = {"run": 0, NO_OPENCL: 0, "parsed": 0, "in the text": 0}
        self.failures = 0
        self.replaced = []  # (begin, end, lines)

    def fail(self, line, message):
        self.failures += 1
        print(f"{self.page}:{line}: {message}")

    def check(self):
        blocks, prose = read_page(self.text)
        for block in blocks:
            self.check_block(block)
        for span in re.findall(r"`([^`]+)`", prose):
            self.check_inline(" ".join(span.split()))
        if self.replaced:
            self.write_replaced()
        counts = [f"{n} {what}" for what, n in self.counts.items() if n]
        print(f"{self.page}: commands:", ", ".join(counts) or "none")
        if self.failures:
            return 1
        skipped = self.counts[NO_OPENCL]
        return 77 if skipped and not self.counts["run"] else 0

    def check_block(self, block):
        language = block.info[0] if block.info else ""
        if language == "console":
            if not block.lines or not block.lines[0].startswith("$ "):
                self.fail(block.first + 1, "a console block has to start with a command, `$ ...`")
                return
            for command in console_commands(block):
                if "opencl" in block.info and not self.tree.has_opencl:
                    self.parse(command.text, command.first, NO_OPENCL)
                else:
                    self.run(command, block.indent)
        elif language == "sh":
            self.parse("\n".join(block.lines), block.first, "parsed")
        else:
            if len(block.info) > 1:  # the contents of a file
                (self.tree.folder / block.info[1]).write_text("\n".join(block.lines) + "\n")
            for offset, line in enumerate(block.lines):
                if COMMAND_LINE.match(line):
                    self.fail(block.first + offset + 1, "command outside a console or sh block")

    def parse(self, script, first, treatment):
        """Checks a script that is not run."""
        code, output = self.tree.bash(script, "-n")
        if code:
            self.fail(first + 1, "\n".join(output))
            return
        for words in statements(script):
            self.counts[treatment] += 1
            if not self.tree.has_program(words[0]):
                self.fail(first + 1, f"no program {words[0]}")
                continue
            for error in self.tree.errors_of_words(words):
                self.fail(first + 1, error)

    def check_inline(self, span):
        words = span.split(" ")
        if words[0] in ("scopevm", "./dev") or any(OPTION.match(word) for word in words):
            self.counts["in the text"] += 1
            if words[0] in self.tree.subcommands["scopevm"]:
                words.insert(0, "scopevm")  # `bound --json`
            for error in self.tree.errors_of_words(words):
                self.fail(1 + self.text[:self.text.find(span)].count("\n"), f"`{span}`: {error}")

    def run(self, command, indent):
        self.counts["run"] += 1
        code, actual = self.tree.run(command.text)
        shows_error = any(ERROR.match(line) for line in command.shown)
        is_same = matches(command.shown, actual)
        if is_same and code in ((1, 2, 3) if shows_error else (0,)):
            return
        if self.update and not is_same and code in range(4):
            lines = [" " * indent + line for line in updated(command.shown, actual)]
            self.replaced.append((command.begin, command.end, lines))
            print(f"{self.page}:{command.first + 1}: updated: {command.text}")
            return
        expected = "an error" if shows_error else "success"
        self.fail(command.first + 1, f"exit code {code}, {expected} expected: {command.text}"
                  if is_same else f"output differs, exit code {code}: {command.text}")
        if not is_same:
            print("\n".join(difflib.unified_diff(command.shown, actual, "shown", "actual",
                                                 lineterm="")))

    def write_replaced(self):
        lines = self.text.split("\n")
        for begin, end, new in reversed(self.replaced):
            lines[begin:end] = new
        (SOURCE / self.page).write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("page", help="path of the page in the source tree")
    parser.add_argument("bin", type=pathlib.Path, help="folder of the programs")
    parser.add_argument("--update", action="store_true", help="write changed output to the page")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder, arguments.bin.resolve())
        sys.exit(Checker(arguments.page, tree, arguments.update).check())


if __name__ == "__main__":
    main()
