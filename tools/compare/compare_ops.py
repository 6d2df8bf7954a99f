#!/usr/bin/python3
"""Compares the operators of com.microsoft and ai.onnx.ml with ONNX Runtime.

    ./dev compare-ops [--cases N] [NAME...]
    ./dev compare-ops --graphs N [--seed S] [NAME...]

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

With --graphs, generates N random graphs of several operators from seed S (1), those that contain an
operator whose name contains a NAME (compare_graphs.py).

Exit code 1: a case differs or is refused.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys

import compare_graphs
from case_runs import ROOT, run_cases, run_reference


def make_cases(folder, count, names):
    environment = {**os.environ, "SCOPEVM_CASES_PER_OPERATOR": str(count),
                   "SCOPEVM_OPERATORS": " ".join(names), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(["/usr/bin/python3", ROOT / "tests/domains/make_cases.py", folder / "cases"],
                   check=True, env=environment)


def main():
    parser = argparse.ArgumentParser(
        usage="./dev compare-ops [--cases N | --graphs N [--seed S]] [NAME...]")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / ".cache/compare/ops")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if options.graphs:
        sys.exit(compare_graphs.run(options))
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
