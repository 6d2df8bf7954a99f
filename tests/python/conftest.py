"""Modules of the tests, which are compiled when a test uses them first."""

import functools
import pathlib

import numpy as np
import pytest

import scopevm

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = {
    "digits": ROOT / "examples/digits/digits.onnx",
    "distance": ROOT / "examples/distance/distance.mlir",
    "sum": ROOT / "tests/tools/run_state.test.mlir",
    "cache": ROOT / "tests/tools/data/cache.mlir",
    "strings": ROOT / "tests/corpus/models/strings.mlir",
    "sequences": ROOT / "tests/corpus/models/sequences.mlir",
    "loops": ROOT / "tests/corpus/models/loops.mlir",
    "loop": ROOT / "tests/python/models/loop.mlir",
}


@functools.cache
def _module(name, options):
    return scopevm.compile(MODELS[name], **dict(options))


@pytest.fixture(name="compiled")
def _compiled():
    """compiled(NAME, **options): a module of MODELS."""
    return lambda name, **options: _module(name, tuple(options.items()))


@pytest.fixture(name="distance")
def _distance():
    """A session of the distance example, and inputs with the expected result."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = np.ones((3, 4), np.float32)
    expected = np.sqrt(((x - y) ** 2).sum(axis=1, keepdims=True))
    return scopevm.Session(_module("distance", ())), x, y, expected


def identity(dtype, dims="n"):
    """A module that returns its input `x` as `y`."""
    t = f"!sv.tensor<{dtype}[{dims}]>"
    text = (f'func.func @main(%x: {t} {{sv.name = "x"}}) -> ({t} {{sv.name = "y"}}) {{\n'
            f"  return %x : {t}\n}}\n")
    return scopevm.compile(text.encode(), name=f"{dtype}.mlir", dim="n>=0" if "n" in dims else ())
