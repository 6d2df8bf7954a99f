"""The option --graphs of compare_ops.py: random graphs of several operators instead of cases of one
node (tests/operator_graphs).

Each graph is compiled for one device and for two, with random placement of its nodes. It is called
with up to three sizes of its dims. The results must be those of ONNX Runtime, or of NumPy where
ONNX Runtime does not support the graph, and the memory bound must be the measured peak.
"""
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess

from case_runs import ROOT, run_cases, run_reference

# Floats may differ by this part of the largest element, in addition to what conformance accepts:
# the errors of several nodes.
_TOLERANCE = "3e-4"
_CPU = "x86-64-v3"
_CHUNK = 10


def _placements(seed):
    """By name: the options of conformance. The nodes of graphs are n0, n1, ..."""
    chosen = random.Random(seed)
    places = [part for number in range(100) if chosen.random() < 0.4
              for part in ("--place", f"n{number}=npu")]
    common = ["--tolerance", _TOLERANCE, "--cpu", _CPU]
    machine = ROOT / "tests/tools/data/two_devices.json"
    return {"one device": common, "two devices": [*common, "--machine", machine, *places]}


def _make_cases(folder, options, first, count, all_outputs=False):
    environment = {**os.environ, "SCOPEVM_GRAPHS": str(count), "SCOPEVM_SEED": str(first),
                   "SCOPEVM_OPERATORS": " ".join(options.names),
                   "SCOPEVM_ALL_OUTPUTS": "1" * all_outputs, "OPENBLAS_NUM_THREADS": "1",
                   "PYTHONDONTWRITEBYTECODE": "1"}
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["/usr/bin/python3", ROOT / "tests/operator_graphs/make_cases.py",
                    folder / "cases"], check=True, env=environment)


def _first_rounding(before, after):
    """Whether the first differing output is an 8-bit integer off by one: accepting that makes the
    case pass or moves its first difference to a later output."""
    first = re.match(r"output (\d+): integers differ", before[1])
    if not first or before[0] != "fail":
        return False
    next_one = re.match(r"output (\d+):", after[1])
    return after[0] == "pass" or (next_one and int(next_one[1]) > int(first[1]))


def _is_rounding(folder, options, name, arguments):
    """Repeats a failing graph with all results of nodes as outputs, in the order of the nodes."""
    _make_cases(folder, options, int(name.rsplit("_", 1)[1]), 1, all_outputs=True)
    run_reference(folder)
    return _first_rounding(*[run_cases(folder, [name], tolerance, 1, arguments)[name]
                             for tolerance in (0, 1)])


def _compare_chunk(options, first, count):
    """Prints the graphs that differ or are refused. Returns the counts of outcomes by placement."""
    folder = options.folder / f"graphs_{first}"
    _make_cases(folder, options, first, count)
    reference = run_reference(folder)
    counts = collections.defaultdict(collections.Counter)
    for placement, arguments in _placements(first).items():
        outcomes = run_cases(folder, reference, 0, 1, arguments)
        for name, why in reference.items():
            verdict, detail = outcomes.get(name, ("missing", ""))
            kind = {"pass": "equal", "unsupported": "refused"}.get(verdict, "differ")
            if kind == "differ" and _is_rounding(folder / "all_outputs", options, name, arguments):
                kind = "within"
            counts[placement][kind] += 1
            counts[placement]["reference"] += why is None
            if kind in ("differ", "refused"):
                print(f"{name}, {placement}: {verdict} {detail}" +
                      (f" (NumPy: {why[:200]})" if why else ""), flush=True)
    shutil.rmtree(folder)
    return counts


def run(options):
    """Prints a line for each placement. Returns whether a graph differs or is refused."""
    chunks = [(first, min(_CHUNK, options.graphs - first))
              for first in range(0, options.graphs, _CHUNK)]
    totals = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for counts in pool.map(
                lambda chunk: _compare_chunk(options, options.seed + chunk[0], chunk[1]), chunks):
            for placement, row in counts.items():
                totals[placement].update(row)
    print(f"{'placement':14}{'graphs':>7}{'reference':>10}{'equal':>7}{'within 1':>9}{'refused':>8}"
          f"{'differ':>7}")
    for placement, row in totals.items():
        kinds = [row[kind] for kind in ("equal", "within", "refused", "differ")]
        print(f"{placement:14}{sum(kinds):7}{row['reference']:10}{kinds[0]:7}{kinds[1]:9}"
              f"{kinds[2]:8}{kinds[3]:7}")
    return any(row["differ"] + row["refused"] for row in totals.values())
