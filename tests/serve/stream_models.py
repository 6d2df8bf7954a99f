"""Models of streams for the server's tests: a decoder with caches of keys and values, and a
detector of speech as Silero's. They are written as ONNX files."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "language_models"))

import networks  # noqa: E402
from graph import FLOAT, Graph  # noqa: E402
from primitive import Primitive  # noqa: E402
from weights import Weights  # noqa: E402

SIZES = networks.Sizes(positions=128)
CHUNK = 512  # samples
HIDDEN = 64


def decoder():
    """The bytes of a small GPT-2, and its states: outputs by input."""
    written = Primitive(SIZES, Weights())
    written.write(networks.gpt2)
    states = {name: name.replace("past_key_values", "present") for name in written.input_names
              if name.startswith("past")}
    return written.model("decoder"), states


def cache_bytes(tokens):
    """The bytes of the states of a sequence."""
    return 2 * SIZES.layers * SIZES.width * tokens * 4


def detector():
    """Spectra of a chunk, a convolution, an LSTM and a probability."""
    net = Graph(17, None)
    seeded = np.random.default_rng(5)
    def normal(*shape):
        values = seeded.standard_normal(shape) * (shape[-1] * shape[-2]) ** -0.5
        return values.astype(np.float32)
    net.input("input", FLOAT, "n", CHUNK)
    net.input("state", FLOAT, 2, "n", HIDDEN)
    signal = net.op("Unsqueeze", "input", net.integers(1))
    spectra = net.op("Abs", net.op("Conv", signal, normal(128, 1, 256), strides=[64]))
    features = net.op("Relu", net.op("Conv", spectra, normal(HIDDEN, 128, 3), pads=[1, 1]))
    mean = net.op("ReduceMean", features, axes=[2], keepdims=0)
    hidden, cell = net.op("Split", "state", axis=0, outputs=2)
    _, new_hidden, new_cell = net.op(
        "LSTM", net.op("Unsqueeze", mean, net.integers(0)), normal(1, 4 * HIDDEN, HIDDEN),
        normal(1, 4 * HIDDEN, HIDDEN), normal(1, 1, 8 * HIDDEN)[0], "", hidden, cell, outputs=3,
        hidden_size=HIDDEN)
    score = net.op("MatMul", net.op("Squeeze", new_hidden, net.integers(0)), normal(HIDDEN, 1))
    net.output("output", net.op("Sigmoid", score), "n", 1)
    net.output("stateN", net.op("Concat", new_hidden, new_cell, axis=0), 2, "n", HIDDEN)
    return net.model("detector"), {"state": "stateN"}
