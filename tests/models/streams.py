#!/usr/bin/env python3
"""Runs random RNN, GRU and LSTM models step by step with a state, and as one call.

    streams.py BIN_FOLDER ONNX_CASES SEED

ONNX_CASES is the folder of onnx_file.py. A model has a random cell, hidden size and linear layer
after the cell. The outputs of all steps must be equal to those of one call with the whole sequence,
and so must the last state, also if the sequence is run in two parts with a state file.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BIN, CASES, SEED = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3])
sys.path.insert(0, CASES)
import onnx_file as onnx  # noqa: E402

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent_model(cell, random):
    """A model of x[length, batch, features] and the state, and its number of features and hidden
    units."""
    features, hidden = int(random.integers(1, 6)), int(random.integers(1, 20))
    draw = lambda *dims: random.standard_normal(dims, dtype=np.float32) / np.float32(2)
    states = ["h", "c"] if cell == "LSTM" else ["h"]
    attributes = {"hidden_size": hidden}
    if cell == "GRU":
        attributes["linear_before_reset"] = int(random.integers(2))
    gates = GATES[cell]
    constants = {"w": draw(1, gates * hidden, features), "r": draw(1, gates * hidden, hidden),
                 "b": draw(1, 2 * gates * hidden), "v": draw(hidden, 3)}
    nodes = [onnx.node(cell, ["x", "w", "r", "b", "", *states],
                       ["all", *(f"{name}n" for name in states)], **attributes),
             onnx.node("MatMul", ["all", "v"], ["y"])]
    state_info = lambda name: onnx.value_info(name, onnx.FLOAT, [1, "batch", hidden])
    graph = onnx.graph(
        nodes, cell,
        [onnx.value_info("x", onnx.FLOAT, ["length", "batch", features]),
         *(state_info(name) for name in states)],
        [onnx.value_info("y", onnx.FLOAT, ["length", 1, "batch", 3]),
         *(state_info(f"{name}n") for name in states)],
        [onnx.tensor(value, name) for name, value in constants.items()])
    return onnx.model(graph, 14, 8, "test"), features, hidden, states


def scopevm(folder, *words):
    run = subprocess.run([BIN / "scopevm", *words], cwd=folder, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit code {run.returncode}\n{run.stderr}")


def outputs_of(folder, states, *words):
    names = ["y", *(f"{name}n" for name in states)]
    scopevm(folder, "run", "model.bc", *words,
            *(f"--output={name}={name}.npy" for name in names))
    return [np.load(folder / f"{name}.npy") for name in names]


def check(cell, random, folder):
    model, features, hidden, states = recurrent_model(cell, random)
    (folder / "model.onnx").write_bytes(model)
    scopevm(folder, "compile", "model.onnx", "-o", "model.bc", "--target-cpu", "x86-64-v3")
    length, batch, split = int(random.integers(2, 9)), int(random.integers(1, 4)), 1
    x = random.standard_normal((length, batch, features), dtype=np.float32)
    np.save(folder / "x.npy", x)
    np.save(folder / "head.npy", x[:split])
    np.save(folder / "tail.npy", x[split:])
    initial = []
    for name in states:
        np.save(folder / f"{name}.npy", random.standard_normal((1, batch, hidden), dtype=np.float32))
        initial.append(f"--input={name}={name}.npy")
    tied = [f"--state={name}={name}n" for name in states]
    whole = outputs_of(folder, states, "--input=x=x.npy", *initial)
    steps = outputs_of(folder, states, "--input=x=x.npy", "--steps=x=0", *initial, *tied)
    if steps[0].shape != (length, 1, 1, batch, 3):
        sys.exit(f"{cell}: y has the shape {steps[0].shape}")
    steps[0] = steps[0].reshape(whole[0].shape)
    kept = [*tied, "--state-file=model.state"]
    first = outputs_of(folder, states, "--input=x=head.npy", *initial, *kept)
    second = outputs_of(folder, states, "--input=x=tail.npy", f"--steps=x=0:{length - split}", *kept)
    second[0] = np.concatenate([first[0], second[0][0]])
    for expected, *given in zip(whole, steps, second):
        for values in given:
            np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6, err_msg=cell)
    (folder / "model.state").unlink()


def main():
    random = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as name:
        for cell in GATES:
            check(cell, random, pathlib.Path(name))


main()
