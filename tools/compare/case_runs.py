"""Runs folders of cases with ONNX Runtime and with scopevm."""
import json
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


_MOST_NAMES = 200  # on a command line: node crashes with several thousand


def run_reference(folder):
    """By case: None, or why ONNX Runtime has not computed the results."""
    rest = sorted(path.name for path in (folder / "cases").iterdir())
    failures = {}
    # Permits models of operator sets that ONNX Runtime supports only in part.
    environment = {**os.environ, "ALLOW_RELEASED_ONNX_OPSETS_ONLY": "0"}
    while rest:
        # ONNX Runtime crashes for some models. The next process continues after such a case.
        names = rest[:_MOST_NAMES]
        done = subprocess.run(["node", ROOT / "tools/compare/ops.mjs", folder / "cases", *names],
                              stdout=subprocess.PIPE, text=True, env=environment)
        failures.update(json.loads(line) for line in done.stdout.splitlines())
        rest = [name for name in rest if name not in failures]
        if rest and rest[0] in names:
            failures[rest.pop(0)] = f"ONNX Runtime ended with exit code {done.returncode}"
    return failures


def run_cases(folder, names, tolerance, jobs, arguments=()):
    """By case: the outcome and its details."""
    selected = folder / "selected"
    shutil.rmtree(selected, ignore_errors=True)
    (selected / "cases").mkdir(parents=True)
    for name in names:
        (selected / "cases" / name).symlink_to(folder / "cases" / name)
    (folder / "none.txt").write_text("")
    done = subprocess.run(
        [ROOT / "build/release/bin/conformance", "--data", selected, "--groups", "cases",
         "--expected", folder / "none.txt", "--verbose", "--jobs", str(jobs),
         "--byte-tolerance", str(tolerance), *arguments], stdout=subprocess.PIPE, text=True)
    outcomes = {}
    for found in re.finditer(r"^cases/(\S+) (pass|fail|unsupported|crash|timeout)( .*)?$",
                             done.stdout, re.MULTILINE):
        outcomes.setdefault(found[1], (found[2], (found[3] or "").strip()))
    return outcomes
