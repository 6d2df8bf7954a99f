#!/usr/bin/python3
"""Generates cases of random graphs of operators: the new ones of the standard domain, and those of
com.microsoft and ai.onnx.ml, with their case makers in tests/domains.

SCOPEVM_GRAPHS is the number of graphs and SCOPEVM_SEED the seed of the first. SCOPEVM_OPERATORS
selects the graphs that contain one of the operators. With SCOPEVM_ALL_OUTPUTS, all results of nodes
are outputs. `./dev compare-ops --graphs N` writes more graphs than the tests, and compares with
ONNX Runtime.
"""
import os
import pathlib
import sys

_TESTS = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS / "onnx_cases"), str(_TESTS / "domains")]

import numpy as np  # noqa: E402

import case_file  # noqa: E402
import onnx_file  # noqa: E402
import operators  # noqa: E402
import microsoft  # noqa: E402, F401
import ml  # noqa: E402, F401
import random_graph  # noqa: E402
import standard  # noqa: E402, F401

_MOST_CALLS, _ATTEMPTS = 3, 12


def _operators(rng):
    """The operators of a graph: one version of each. The domain ai.onnx.ml has one version."""
    ml_version = int(rng.choice([1, 2, 4, 5]))
    newest = {}
    for op in operators.table():
        if op.domain == operators.ML and op.version > ml_version:
            continue
        if op.name.startswith("TreeEnsemble") and op.version < 5 and ml_version == 5:
            continue
        key = (op.domain, op.name)
        if key not in newest or newest[key].version < op.version:
            newest[key] = op
    return list(newest.values())


def _dims(states, rng):
    """A symbol or a number for each dim of the inputs: by name of the input and axis. Dims that are
    equal in all calls can share a symbol."""
    by_sizes, names, shares = {}, {}, rng.random() < 0.5
    for key, array in states[0].inputs.items():
        for axis in range(array.ndim):
            sizes = tuple(state.inputs[key].shape[axis] for state in states)
            is_number = len(set(sizes)) == 1 and (key in states[0].fixed or rng.random() < 0.4)
            if is_number:
                continue
            name = f"{key}_{axis}"
            names[key, axis] = by_sizes.setdefault(sizes, name) if shares else name
    return names


def _write(seed, all_outputs, wanted):
    rng = np.random.default_rng((seed, 1))
    builder = random_graph.Builder(seed, _operators(rng))
    builder.build(3, 12)
    if len(builder.steps) < 2 or (wanted and not any(
            name in step.op.name for step in builder.steps for name in wanted)):
        return False
    states = [builder.state]
    for attempt in range(_ATTEMPTS):
        if len(states) == _MOST_CALLS:
            break
        if (state := builder.repeated(attempt + 1)) is not None:
            states.append(state)
    used = {index for step in builder.steps for _, index, _ in step.links}
    kept = [index for index in range(len(builder.state.values))
            if index not in used or all_outputs | (rng.random() < 0.3)]
    calls = [(state.inputs, {state.values[i].name: state.values[i].array for i in kept})
             for state in states]
    (inputs, results), *more = calls
    names = _dims(states, rng) if seed % 4 else {}
    if not names:
        more = []
    state = builder.state
    case_file.graph_case(
        f"graph_{seed:06}", state.opset, state.nodes, inputs, results, state.constants,
        [case_file.value_info(key, array, names) for key, array in inputs.items()],
        [onnx_file.value_info(key) for key in results], domains=state.domains, more_calls=more)
    return True


def write_graphs(count, seed, all_outputs=False, wanted=()):
    for index in range(seed, seed + count):
        _write(index, all_outputs, wanted)


if __name__ == "__main__":
    case_file.main(lambda: write_graphs(
        int(os.environ.get("SCOPEVM_GRAPHS", "16")), int(os.environ.get("SCOPEVM_SEED", "1")),
        bool(os.environ.get("SCOPEVM_ALL_OUTPUTS")),
        os.environ.get("SCOPEVM_OPERATORS", "").split()))
