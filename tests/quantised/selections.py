"""Random ops between DequantizeLinear and QuantizeLinear that select elements. The reference
dequantises, selects floats and quantises."""
import numpy as np

import onnx_file


class _Graph:
    """The nodes of a graph that is computed while it is built."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes = []
        self.inputs = []     # pairs (name, array)
        self.constants = []  # the names of constants

    def constant(self, array):
        self.inputs.append((f"c{len(self.inputs)}", np.asarray(array)))
        self.constants.append(self.inputs[-1][0])
        return self.constants[-1]

    def node(self, op, inputs, result, **attributes):
        self.nodes.append(onnx_file.node(op, inputs, [f"v{len(self.nodes)}"], **attributes))
        return f"v{len(self.nodes) - 1}", result

    def dequantised(self, shape, dtype, scale, zero):
        limits = np.iinfo(dtype)
        values = self.rng.integers(limits.min, limits.max + 1, shape).astype(dtype)
        self.inputs.append((f"x{len(self.inputs)}", values))
        names = [self.inputs[-1][0], self.constant(scale), self.constant(zero)]
        result = (values.astype(np.float32) - np.float32(zero)) * scale
        return self.node("DequantizeLinear", names, result.astype(np.float32))


def _transpose(g, name, x, _):
    order = g.rng.permutation(x.ndim)
    return g.node("Transpose", [name], x.transpose(order), perm=order.tolist())


def _relu(g, name, x, _):
    return g.node("Relu", [name], np.maximum(x, 0))


def _clip(g, name, x, _):
    low, high = np.sort(g.rng.uniform(-9, 9, 2)).astype(np.float32)
    return g.node("Clip", [name, g.constant(low), g.constant(high)], x.clip(low, high))


def _max_pool(g, name, x, _):
    pads = g.rng.integers(0, 2, 2).tolist()
    wide = np.pad(x, [(0, 0)] * 2 + [(pads[0], pads[1]), (0, 0)], constant_values=-np.inf)
    rows = wide.shape[2] - 1
    y = np.maximum(wide[:, :, :rows], wide[:, :, 1:])
    return g.node("MaxPool", [name], y, kernel_shape=[2, 1], pads=[pads[0], 0, pads[1], 0])


def _slice(g, name, x, _):
    axis = int(g.rng.integers(x.ndim))
    parts = [g.constant(np.array([number])) for number in (-1, -100, axis, -1)]
    return g.node("Slice", [name] + parts, np.flip(x, axis).copy())


def _gather(g, name, x, _):
    axis = int(g.rng.integers(x.ndim))
    indices = g.rng.integers(0, x.shape[axis], 3)
    return g.node("Gather", [name, g.constant(indices)], np.take(x, indices, axis), axis=axis)


def _pad(g, name, x, _):
    pads, value = g.rng.integers(0, 3, (2, x.ndim)), np.float32(g.rng.uniform(-9, 9))
    if g.rng.integers(2):
        y = np.pad(x, pads.T.tolist(), mode="edge")
        return g.node("Pad", [name, g.constant(pads.reshape(-1))], y, mode="edge")
    y = np.pad(x, pads.T.tolist(), constant_values=value)
    return g.node("Pad", [name, g.constant(pads.reshape(-1)), g.constant(value)], y)


def _resize(g, name, x, _):
    scales = np.array([1, 1, 2, 1], np.float32)
    return g.node("Resize", [name, "", g.constant(scales)], np.repeat(x, 2, 2), mode="nearest",
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def _concat_constant(g, name, x, _):
    other = g.rng.uniform(-9, 9, x.shape).astype(np.float32)
    return g.node("Concat", [name, g.constant(other)], np.concatenate([x, other], 1), axis=1)


def _concat(g, name, x, dequantise):
    other, y = dequantise(x.shape)
    return g.node("Concat", [other, name], np.concatenate([y, x], 0), axis=0)


def _maximum(g, name, x, dequantise):
    other, y = dequantise(x.shape)
    return g.node("Max", [name, other], np.maximum(x, y))


def _where(g, name, x, dequantise):
    other, y = dequantise(x.shape)
    chosen = g.rng.integers(0, 2, x.shape).astype(bool)
    return g.node("Where", [g.constant(chosen), name, other], np.where(chosen, x, y))


def _product(g, name, x, _):
    """Not a selection: floats remain."""
    return g.node("Mul", [name, g.constant(np.float32(-0.75))], x * np.float32(-0.75))


_OPS = (_transpose, _relu, _clip, _max_pool, _slice, _gather, _pad, _resize, _concat_constant,
        _concat, _maximum, _where, _product)


def selection(seed, quantise):
    """The nodes, inputs, names of the constants, and result. Seed i has op i of _OPS and up to 4
    others. quantise(x, scale, zero, dtype) is the reference of QuantizeLinear."""
    g = _Graph(seed)
    dtype = (np.uint8, np.int8)[seed % 2]
    scale = np.float32(g.rng.uniform(0.02, 0.2))
    zero = dtype(g.rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1))

    def dequantise(shape):
        # A quarter of the operands has other parameters.
        is_other = g.rng.integers(4) == 0
        return g.dequantised(shape, dtype, scale * np.float32(1 + 0.5 * is_other), zero)

    name, x = g.dequantised((2, 3, 4, 5), dtype, scale, zero)
    count = int(g.rng.integers(0, 5))
    others = [_OPS[i] for i in g.rng.integers(len(_OPS), size=count)]
    for op in [_OPS[seed % len(_OPS)]] + others:
        if x.size < 4000:
            name, x = op(g, name, x, dequantise)
    y = quantise(x, scale, np.float64(zero), dtype)
    g.nodes.append(onnx_file.node(
        "QuantizeLinear", [name, g.constant(scale), g.constant(zero)], ["y0"]))
    return g.nodes, g.inputs, g.constants, y
