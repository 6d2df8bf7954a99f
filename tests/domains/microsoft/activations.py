"""Cases of activation functions."""
import math

import numpy as np

from operators import Case, operator


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64))


def gelu(x):
    x = x.astype(np.float64)
    return (0.5 * x * (1 + erf(x / np.sqrt(2)))).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def _shape(draw, least=1, most=4):
    return [draw.number(1, 7) for _ in range(draw.number(least, most))]


@operator("Gelu")
def _gelu(draw):
    x = draw.reals(*_shape(draw), low=-4, high=4)
    return Case({"x": x}, [gelu(x)])


@operator("BiasGelu")
def _bias_gelu(draw):
    x = draw.reals(*_shape(draw), low=-4, high=4)
    bias = draw.reals(x.shape[-1])
    return Case({"x": x, "bias": bias}, [gelu(x + bias)], constants=("bias",) * draw.flag())


@operator("FastGelu")
def _fast_gelu(draw):
    x = draw.reals(*_shape(draw), low=-4, high=4)
    bias = draw.reals(x.shape[-1]) if draw.flag() else None
    wide = (x if bias is None else x + bias).astype(np.float64)
    y = 0.5 * wide * (1 + np.tanh(0.7978845608 * (wide + 0.044715 * wide**3)))
    return Case({"x": x, "bias": bias}, [y.astype(np.float32)])


@operator("QuickGelu")
def _quick_gelu(draw):
    x = draw.reals(*_shape(draw), low=-4, high=4)
    attributes = {"alpha": draw.choice(1.0, 0.5, 1.702)} if draw.flag() else {}
    y = x * sigmoid(x * attributes.get("alpha", 1.702))
    return Case({"x": x}, [y.astype(np.float32)], attributes)


@operator("BiasSplitGelu")
def _bias_split_gelu(draw):
    x = draw.reals(draw.number(1, 3), draw.number(1, 5), 2 * draw.number(1, 6))
    bias = draw.reals(x.shape[-1])
    left, right = np.split(x + bias, 2, axis=2)
    return Case({"x": x, "bias": bias}, [left * gelu(right)])
