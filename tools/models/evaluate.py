"""Computes all values of a model of this folder with NumPy, to find the ranges of its values."""
import math

import numpy as np
from onnx import helper, numpy_helper

_ERF = np.vectorize(math.erf, otypes=[np.float32])


def _windows(x, kernel, strides, pads, fill):
    """[n, c, out_height, out_width, kernel_height, kernel_width]"""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=fill)
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))
    return windows[:, :, ::strides[0], ::strides[1]]


def _conv(x, w, bias=None, *, strides, pads, group, kernel_shape, **_):
    windows = _windows(x, kernel_shape, strides, pads, 0)
    count, rows = x.shape[0], w.shape[0] // group
    parts = []
    for g in range(group):
        own = windows[:, g * w.shape[1]:(g + 1) * w.shape[1]]
        height, width = own.shape[2:4]
        columns = own.transpose(0, 2, 3, 1, 4, 5).reshape(count * height * width, -1)
        product = columns @ w[g * rows:(g + 1) * rows].reshape(rows, -1).T
        parts.append(product.reshape(count, height, width, rows).transpose(0, 3, 1, 2))
    y = np.concatenate(parts, axis=1)
    return y if bias is None else y + bias.reshape(-1, 1, 1)


def _depthwise(x, w, bias=None, *, strides, pads, kernel_shape, **_):
    y = np.einsum("nchwij,cij->nchw", _windows(x, kernel_shape, strides, pads, 0), w[:, 0])
    return y if bias is None else y + bias.reshape(-1, 1, 1)


def _any_conv(x, w, *bias, group, **attributes):
    if group > 1 and w.shape[1] == 1 and w.shape[0] == group:
        return _depthwise(x, w, *bias, **attributes)
    return _conv(x, w, *bias, group=group, **attributes)


def _batch_norm(x, scale, shift, mean, variance, *, epsilon, **_):
    multiplier = scale / np.sqrt(variance + epsilon)
    return x * multiplier.reshape(-1, 1, 1) + (shift - mean * multiplier).reshape(-1, 1, 1)


def _gemm(a, b, c, *, transB=0, **_):
    return a @ (b.T if transB else b) + c


def _softmax(x, *, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _slice(x, starts, ends, axes, steps):
    where = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        where[axis] = slice(start, end, step)
    return x[tuple(where)]


_OPS = {
    "Add": np.add,
    "BatchNormalization": _batch_norm,
    "Cast": lambda x, *, to: x.astype(helper.mapping.TENSOR_TYPE_TO_NP_TYPE[to]),
    "Clip": np.clip,
    "Concat": lambda *parts, axis: np.concatenate(parts, axis=axis),
    "Constant": lambda *, value: numpy_helper.to_array(value),
    "Conv": _any_conv,
    "Div": np.divide,
    "Erf": _ERF,
    "Flatten": lambda x, *, axis: x.reshape(math.prod(x.shape[:axis]), -1),
    "Gather": lambda x, indices, *, axis=0: np.take(x, indices, axis=axis),
    "Gemm": _gemm,
    "GlobalAveragePool": lambda x: x.mean(axis=(2, 3), keepdims=True),
    "MatMul": np.matmul,
    "MaxPool": lambda x, *, kernel_shape, pads, strides: _windows(
        x, kernel_shape, strides, pads, -np.inf).max(axis=(4, 5)),
    "Mul": np.multiply,
    "Pow": np.power,
    "ReduceMean": lambda x, *, axes: x.mean(axis=tuple(axes), keepdims=True),
    "Relu": lambda x: np.maximum(x, np.float32(0)),
    "Reshape": lambda x, shape: x.reshape(shape),
    "Shape": lambda x: np.array(x.shape, dtype=np.int64),
    "Slice": _slice,
    "Softmax": _softmax,
    "Sqrt": np.sqrt,
    "Sub": np.subtract,
    "Transpose": lambda x, *, perm: x.transpose(perm),
    "Unsqueeze": lambda x, axes=None, **attributes: np.expand_dims(
        x, tuple(attributes.get("axes", axes))),
}


def evaluate(graph, inputs):
    """Returns the values of all names of the graph, a dict of arrays. REQUIRES: each node has one
    output, and its operator and attributes are those of the networks of this folder."""
    values = dict(inputs)
    for tensor in graph.initializer:
        values[tensor.name] = numpy_helper.to_array(tensor)
    for node in graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        values[node.output[0]] = _OPS[node.op_type](*(values[name] for name in node.input),
                                                    **attributes)
    return values
