"""Cases of ops on 8-bit tensors with one scale and zero point each."""
import numpy as np

from operators import Case, operator
from .contractions import quantise, zero_point


class _Tensor:
    """A random 8-bit tensor with its parameters. `real` are its values."""

    def __init__(self, draw, dtype, *shape, scale=None):
        self.values = draw.bytes(*shape, dtype=dtype)
        self.scale = np.float32(scale or draw.choice(0.01, 0.02, 0.05))
        self.zero = zero_point(draw, dtype)
        self.real = (self.values.astype(np.float64) - int(self.zero)) * np.float64(self.scale)

    def inputs(self, name):
        return {name: self.values, f"{name}_scale": self.scale, f"{name}_zero": self.zero}


def _shape(draw, least=1, most=4):
    return [draw.number(1, 6) for _ in range(draw.number(least, most))]


def _finish(draw, inputs, real, dtype, attributes=None, scale=0.0517, first=False, zero=None):
    """The case of an op with the result `real`, whose scale and zero point are the last or the
    first inputs. With the scale, no result is half-way between two integers."""
    scale = np.float32(scale)
    zero = zero_point(draw, dtype) if zero is None else np.asarray(zero, dtype)
    parameters = {"y_scale": scale, "y_zero": zero}
    inputs = {**parameters, **inputs} if first else {**inputs, **parameters}
    constants = tuple(name for name in inputs if name.endswith(("_scale", "_zero")))
    return Case(inputs, [quantise(real, np.float64(scale), int(zero), dtype)], attributes or {},
                constants)


def _binary(draw, function):
    dtype, shape = draw.choice(np.uint8, np.int8), _shape(draw)
    other = [draw.choice(size, size, 1) for size in shape][draw.number(0, len(shape) - 1):]
    a, b = _Tensor(draw, dtype, *shape), _Tensor(draw, dtype, *other)
    if draw.flag():
        a, b = b, a
    return _finish(draw, {**a.inputs("a"), **b.inputs("b")}, function(a.real, b.real), dtype)


@operator("QLinearAdd")
def _add(draw):
    return _binary(draw, np.add)


@operator("QLinearMul")
def _mul(draw):
    return _binary(draw, np.multiply)


@operator("QLinearSigmoid")
def _sigmoid(draw):
    dtype = draw.choice(np.uint8, np.int8)
    x = _Tensor(draw, dtype, *_shape(draw))
    return _finish(draw, x.inputs("x"), 1 / (1 + np.exp(-x.real)), dtype, scale=1 / 256,
                   zero=np.iinfo(dtype).min)


@operator("QLinearLeakyRelu")
def _leaky_relu(draw):
    dtype = draw.choice(np.uint8, np.int8)
    x = _Tensor(draw, dtype, *_shape(draw))
    attributes = {"alpha": draw.choice(0.1, 0.3)} if draw.flag() else {}
    y = np.where(x.real < 0, x.real * np.float32(attributes.get("alpha", 0.01)), x.real)
    return _finish(draw, x.inputs("x"), y, dtype, attributes)


@operator("QLinearSoftmax")
def _softmax(draw):
    dtype = draw.choice(np.uint8, np.int8)
    # ONNX Runtime returns 0 for the softmax of one number.
    x = _Tensor(draw, dtype, *[draw.number(2, 6) for _ in range(draw.number(2, 4))])
    opset = draw.choice(12, 13)
    axis = draw.number(-x.real.ndim, x.real.ndim - 1)
    axes = tuple(range(axis % x.real.ndim, x.real.ndim)) if opset < 13 else axis
    y = np.exp(x.real - x.real.max(axes, keepdims=True))
    y /= y.sum(axes, keepdims=True)
    return _finish(draw, x.inputs("x"), y, dtype, {"axis": axis, "opset": opset}, scale=1 / 256,
                   zero=np.iinfo(dtype).min)


@operator("QLinearWhere")
def _where(draw):
    dtype, shape = draw.choice(np.uint8, np.int8), _shape(draw)
    condition = draw.integers(0, 2, *shape).astype(bool)
    a, b = _Tensor(draw, dtype, *shape), _Tensor(draw, dtype, *shape[draw.number(0, 1):])
    return _finish(draw, {"condition": condition, **a.inputs("a"), **b.inputs("b")},
                   np.where(condition, a.real, b.real), dtype)


@operator("QLinearConcat")
def _concat(draw):
    dtype, shape = draw.choice(np.uint8, np.int8), _shape(draw)
    axis = draw.number(-len(shape), len(shape) - 1)
    inputs, parts = {}, []
    for i in range(draw.number(1, 3)):
        shape[axis] = draw.number(1, 4)
        part = _Tensor(draw, dtype, *shape)
        inputs.update(part.inputs(f"x{i}"))
        parts.append(part.real)
    return _finish(draw, inputs, np.concatenate(parts, axis), dtype, {"axis": axis}, first=True)


@operator("QLinearReduceMean")
def _reduce_mean(draw):
    dtype = draw.choice(np.uint8, np.int8)
    x = _Tensor(draw, dtype, *_shape(draw, 2, 4))
    axes = sorted({draw.number(0, x.real.ndim - 1) for _ in range(2)})
    attributes = {"axes": axes, "keepdims": draw.number(0, 1)}
    y = x.real.mean(tuple(axes), keepdims=bool(attributes["keepdims"]))
    return _finish(draw, x.inputs("x"), y, dtype, attributes)


@operator("QLinearGlobalAveragePool")
def _global_average_pool(draw):
    dtype, is_last = draw.choice(np.uint8, np.int8), draw.number(0, 1)
    x = _Tensor(draw, dtype, *[draw.number(1, 6) for _ in range(4)])
    y = x.real.mean((1, 2) if is_last else (2, 3), keepdims=True)
    return _finish(draw, x.inputs("x"), y, dtype, {"channels_last": is_last})


@operator("QLinearAveragePool")
def _average_pool(draw):
    dtype, is_last = draw.choice(np.uint8, np.int8), draw.number(0, 1)
    x = _Tensor(draw, dtype, draw.number(1, 2), draw.number(1, 4), 6, 7)
    kernel, strides = [2, 3], [draw.number(1, 2), draw.number(1, 2)]
    pads, counted = [draw.number(0, 1) for _ in range(4)], draw.number(0, 1)
    widths = [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])]
    padded, ones = np.pad(x.real, widths), np.pad(np.ones_like(x.real), widths)
    height, width = ((padded.shape[2 + i] - kernel[i]) // strides[i] + 1 for i in range(2))
    y = np.zeros((*x.real.shape[:2], height, width))
    for i in range(height):
        for j in range(width):
            at = np.s_[:, :, i * strides[0]:i * strides[0] + kernel[0],
                       j * strides[1]:j * strides[1] + kernel[1]]
            y[:, :, i, j] = padded[at].sum((2, 3)) / (6 if counted else ones[at].sum((2, 3)))
    inputs = x.inputs("x")
    if is_last:
        inputs["x"], y = np.ascontiguousarray(np.moveaxis(x.values, 1, -1)), np.moveaxis(y, 1, -1)
    attributes = {"channels_last": is_last, "kernel_shape": kernel, "strides": strides,
                  "pads": pads, "count_include_pad": counted}
    return _finish(draw, inputs, y, dtype, attributes)


@operator("NhwcMaxPool")
def _nhwc_max_pool(draw):
    x = draw.bytes(draw.number(1, 2), 6, 7, draw.number(1, 4), dtype=draw.choice(np.uint8, np.int8))
    strides = [draw.number(1, 2), draw.number(1, 2)]
    height, width = (6 - 2) // strides[0] + 1, (7 - 3) // strides[1] + 1
    y = np.stack([np.stack([x[:, i * strides[0]:i * strides[0] + 2,
                              j * strides[1]:j * strides[1] + 3].max((1, 2))
                            for j in range(width)], 1) for i in range(height)], 1)
    return Case({"x": x}, [y], {"kernel_shape": [2, 3], "strides": strides})


def _parameters(draw, shape, dtype):
    """An axis or None, scales and zero points, and what broadcasts them to the shape."""
    axis = draw.choice(None, *range(len(shape)))
    count = [] if axis is None else [shape[axis]]
    scale, zero = draw.reals(*count, low=0.01, high=0.1), draw.integers(0, 9, *count, dtype=dtype)
    dims = [1] * len(shape)
    if axis is not None:
        dims[axis] = shape[axis]
    return axis, scale, zero, dims


@operator("QuantizeLinear")
def _quantize_linear(draw):
    dtype, shape = draw.choice(np.uint8, np.int8, np.uint16, np.int16), _shape(draw)
    x = draw.reals(*shape)
    axis, scale, zero, dims = _parameters(draw, shape, dtype)
    limits = np.iinfo(dtype)
    y = np.rint(x / scale.reshape(dims)) + zero.reshape(dims).astype(np.int64)
    return Case({"x": x, "scale": scale, "zero": zero},
                [np.clip(y, limits.min, limits.max).astype(dtype)],
                {} if axis is None else {"axis": axis})


@operator("DequantizeLinear")
def _dequantize_linear(draw):
    dtype, shape = draw.choice(np.uint8, np.int8, np.uint16, np.int16, np.int32), _shape(draw)
    x = draw.bytes(*shape, dtype=dtype) if dtype != np.int32 else draw.integers(-999, 999, *shape,
                                                                               dtype=dtype)
    axis, scale, zero, dims = _parameters(draw, shape, dtype)
    if dtype == np.int32:
        zero = np.zeros_like(zero)
    y = (x.astype(np.int64) - zero.reshape(dims).astype(np.int64)) * scale.reshape(dims)
    return Case({"x": x, "scale": scale, "zero": zero}, [y.astype(np.float32)],
                {} if axis is None else {"axis": axis})
