#!/usr/bin/python3
"""Compares the operators of com.microsoft and ai.onnx.ml with ONNX Runtime.

    ./dev compare-ops [--cases N] [NAME...]

Generates N cases (20) of one node for each operator whose name contains a NAME, or for all
operators (tests/domains). ONNX Runtime computes the expected results, or NumPy where ONNX Runtime
does not support the case. Prints one line for each operator:

    cases      number of cases
    reference  those for which ONNX Runtime computed the results
    equal      those whose results scopevm computes: floats within 1e-3 relative and 1e-6 absolute,
               other types exactly
    within 1   further ones that are equal if 8-bit integers may differ by 1
    refused    those that scopevm does not support
    differ     those with other results

Exit code 1: a case differs or is refused.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def make_cases(folder, count, names):
    environment = {**os.environ, "SCOPEVM_CASES_PER_OPERATOR": str(count),
                   "SCOPEVM_OPERATORS": " ".join(names), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(["/usr/bin/python3", ROOT / "tests/domains/make_cases.py", folder / "cases"],
                   check=True, env=environment)


def run_reference(folder):
    """By case: None, or why ONNX Runtime has not computed the results."""
    rest = sorted(path.name for path in (folder / "cases").iterdir())
    failures = {}
    while rest:
        # ONNX Runtime crashes for some models. The next process continues after such a case.
        done = subprocess.run(["node", ROOT / "tools/compare/ops.mjs", folder / "cases", *rest],
                              stdout=subprocess.PIPE, text=True)
        failures.update(json.loads(line) for line in done.stdout.splitlines())
        rest = [name for name in rest if name not in failures]
        if rest:
            failures[rest.pop(0)] = f"ONNX Runtime ended with exit code {done.returncode}"
    return failures


def run_cases(folder, names, tolerance, jobs):
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
         "--byte-tolerance", str(tolerance)], stdout=subprocess.PIPE, text=True)
    outcomes = {}
    for found in re.finditer(r"^cases/(\S+) (pass|fail|unsupported|crash|timeout)( .*)?$",
                             done.stdout, re.MULTILINE):
        outcomes.setdefault(found[1], (found[2], (found[3] or "").strip()))
    return outcomes


def main():
    parser = argparse.ArgumentParser(usage="./dev compare-ops [--cases N] [NAME...]")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / ".cache/compare/ops")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    make_cases(options.folder, options.cases, options.names)
    reference = run_reference(options.folder)
    exact = run_cases(options.folder, reference, 0, options.jobs)
    others = [name for name in reference if exact.get(name, ("",))[0] != "pass"]
    close = {**exact, **(run_cases(options.folder, others, 1, options.jobs) if others else {})}
    counts = collections.defaultdict(collections.Counter)
    reasons = []
    for name, why in reference.items():
        row = counts[name.rsplit("_", 1)[0]]
        row["cases"] += 1
        row["reference"] += why is None
        verdict, detail = close.get(name, ("missing", ""))
        kind = ("equal" if exact.get(name, ("",))[0] == "pass" else
                {"pass": "within", "unsupported": "refused"}.get(verdict, "differ"))
        row[kind] += 1
        if kind in ("differ", "refused"):
            reasons.append(f"{name}: {verdict} {detail}")
        if why is not None and row["reference"] == 0 and row["cases"] == 1:
            reasons.append(f"{name}: computed by NumPy: {why}")
    print(f"{'operator':34}{'cases':>6}{'reference':>10}{'equal':>7}{'within 1':>9}"
          f"{'refused':>8}{'differ':>7}")
    for name, row in sorted(counts.items()):
        print(f"{name:34}{row['cases']:6}{row['reference']:10}{row['equal']:7}{row['within']:9}"
              f"{row['refused']:8}{row['differ']:7}")
    print(*reasons, sep="\n")
    sys.exit(any(row["differ"] + row["refused"] for row in counts.values()))


if __name__ == "__main__":
    main()
