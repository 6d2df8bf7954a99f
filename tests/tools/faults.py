#!/usr/bin/env python3
"""Makes each file operation and thread start of a command fail in turn.

    faults.py BIN_FOLDER FAILING_CALLS MODEL [INTERVAL]

FAILING_CALLS is the library of data/failing_calls.c. Each run ends with exit code 0, 1 or 3. A run
that succeeds has the output of a run without failures. A run that fails prints a message, writes its
output file completely or not at all, and leaves no other files. Checks one failure of each INTERVAL,
default 1, and always the first and the last.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

KINDS = ("open", "read", "write", "mmap", "rename", "pthread_create")
OLD = b"old contents"
SECONDS = 100  # a hang; a run takes about one second


class Command:
    """A command whose output files are in the current folder."""

    def __init__(self, *words, outputs=(), stdin=None):
        self.words = words
        self.outputs = outputs
        self.stdin = stdin

    def run(self, folder, environment):
        """Runs the command in a new folder. Returns its result and the files that it leaves."""
        for old in folder.iterdir():
            old.unlink()
        for output in self.outputs:
            (folder / output).write_bytes(OLD)
        source = open(self.stdin, "rb") if self.stdin else subprocess.DEVNULL
        result = subprocess.run(self.words, cwd=folder, env=dict(os.environ, **environment),
                                stdin=source, capture_output=True, timeout=SECONDS, check=False)
        return result, {path.name: path.read_bytes() for path in folder.iterdir()}

    def __str__(self):
        return " ".join(map(str, self.words))


def check(command, result, files, expected, expected_files):
    """Returns what is wrong with a run, or an empty string."""
    if result.returncode not in (0, 1, 3):
        return f"exit code {result.returncode}"
    if result.returncode == 0:
        if files != expected_files:
            return "exit code 0, but other output files"
        return "" if result.stdout == expected.stdout else "exit code 0, but other output"
    # The output file can be complete, if the command failed to print its report afterwards.
    if files not in ({output: OLD for output in command.outputs}, expected_files):
        sizes = {name: len(content) for name, content in files.items()}
        return f"exit code {result.returncode}, but output files {sizes}"
    return "" if result.stderr else f"exit code {result.returncode} without a message"


def check_command(command, kind, library, folder, count_file, interval):
    """Makes each operation of the kind fail. Returns the numbers of runs and of wrong runs."""
    expected, expected_files = command.run(folder, {})
    assert expected.returncode == 0, (str(command), expected.stderr)
    shim = {"LD_PRELOAD": str(library), "FAIL_CALL": kind, "FAIL_COUNT": str(count_file)}
    command.run(folder, shim)
    count = int(count_file.read_text())
    points = sorted({*range(1, count + 1, interval), *((count,) if count else ())})
    wrong = 0
    for point in points:
        result, files = command.run(folder, {**shim, "FAIL_AT": str(point)})
        problem = check(command, result, files, expected, expected_files)
        if problem:
            wrong += 1
            print(f"{command}\n  {kind} {point} of {count}: {problem}\n"
                  f"  {result.stderr[-300:].decode(errors='replace')}")
    return len(points), wrong


def main():
    scopevm = pathlib.Path(sys.argv[1]).resolve() / "scopevm"
    library, model = (pathlib.Path(argument).resolve() for argument in sys.argv[2:4])
    interval = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as place:
        inputs, folder = pathlib.Path(place) / "inputs", pathlib.Path(place) / "outputs"
        inputs.mkdir()
        folder.mkdir()
        module, text = inputs / "m.bc", inputs / "m.txt"
        subprocess.run([scopevm, "compile", model, "-o", module], check=True)
        with open(text, "wb") as listing:
            subprocess.run([scopevm, "dis", module], stdout=listing, check=True)
        run = (scopevm, "run", module, "--threads", "2", "--input", "image=random:2x1x8x8")
        commands = (
            Command(scopevm, "compile", model, "--threads", "2", "-o", "out.bc",
                    outputs=("out.bc",)),
            Command(scopevm, "compile", "-", "--threads", "2", "-o", "-", stdin=model),
            Command(*run, "--output", "probability=out.npy", outputs=("out.npy",)),
            Command(*run[:5], "--input", "image=random:2x1x8x8", "--output", "probability=-"),
            Command(scopevm, "dis", module),
            Command(scopevm, "asm", text, "-o", "out.bc", outputs=("out.bc",)),
            Command(scopevm, "inspect", module),
            Command(scopevm, "explain", model, "--shapes"),
        )
        runs = failed = 0
        for command in commands:
            for kind in KINDS:
                done, wrong = check_command(command, kind, library, folder,
                                            pathlib.Path(place) / "count", interval)
                runs += done
                failed += wrong
    print(f"{runs} runs with a failure, {failed} wrong")
    return 1 if failed or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
