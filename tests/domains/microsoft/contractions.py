"""Cases of products and convolutions."""
import numpy as np

from operators import Case, operator


def _float(x):
    return np.asarray(x, np.float32)


# --- Matrix products. -----------------------------------------------------------------------------


def _product(draw, has_batches):
    rank = draw.number(2, 4)
    rows, depth, columns = (draw.number(1, 9) for _ in range(3))
    batch = [draw.number(1, 3) for _ in range(rank - 2)]
    attributes = {"transA": draw.number(0, 1), "transB": draw.number(0, 1),
                  "alpha": draw.choice(1.0, 0.5, -2.0)}
    if has_batches and rank > 2:
        attributes.update(transBatchA=draw.number(0, 1), transBatchB=draw.number(0, 1))
    a, b = draw.reals(*batch, rows, depth), draw.reals(*batch, depth, columns)
    y = attributes["alpha"] * (a.astype(np.float64) @ b.astype(np.float64))
    operands = []
    for name, x in (("A", a), ("B", b)):
        if attributes[f"trans{name}"]:
            x = x.swapaxes(-1, -2)
        if attributes.get(f"transBatch{name}"):
            x = np.moveaxis(x, -2, 0)
        operands.append(np.ascontiguousarray(x))
    return Case({"a": operands[0], "b": operands[1]}, [_float(y)], attributes)


@operator("FusedMatMul")
def _fused_matmul(draw):
    return _product(draw, True)


@operator("TransposeMatMul")
def _transpose_matmul(draw):
    return _product(draw, False)


_ACTIVATIONS = {
    "Relu": ([], lambda x: np.maximum(x, 0)),
    "Sigmoid": ([], lambda x: 1 / (1 + np.exp(-x))),
    "Tanh": ([], np.tanh),
    "LeakyRelu": ([0.25], lambda x: np.where(x < 0, 0.25 * x, x)),
    "HardSigmoid": ([0.3, 0.4], lambda x: np.clip(0.3 * x + 0.4, 0, 1)),
    "Clip": ([-0.5, 1.0], lambda x: np.clip(x, -0.5, 1))}


@operator("FusedGemm")
def _fused_gemm(draw):
    rows, depth, columns = (draw.number(1, 9) for _ in range(3))
    name = draw.choice("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid")
    parameters, function = _ACTIVATIONS[name]
    attributes = {"transA": draw.number(0, 1), "transB": draw.number(0, 1), "activation": name,
                  "alpha": draw.choice(1.0, 0.5), "beta": draw.choice(1.0, 2.0)}
    attributes.update(zip(("activation_alpha", "activation_beta"), parameters))
    a, b = draw.reals(rows, depth), draw.reals(depth, columns)
    c = draw.reals(*draw.choice((columns,), (rows, 1), (rows, columns))) if draw.flag() else None
    y = attributes["alpha"] * (a.astype(np.float64) @ b)
    if c is not None:
        y = y + attributes["beta"] * c
    inputs = {"a": a.T.copy() if attributes["transA"] else a,
              "b": b.T.copy() if attributes["transB"] else b, "c": c}
    return Case(inputs, [_float(function(y))], attributes)


# --- Convolutions. --------------------------------------------------------------------------------


def conv(x, w, strides, pads, dilations, group, border=0.0):
    """The sums of a convolution of images: float64, or int64 for integers."""
    x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])],
               constant_values=border)
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    height, width = ((size - span) // stride + 1
                     for size, span, stride in zip(x.shape[2:], spans, strides))
    y = np.zeros((x.shape[0], w.shape[0], height, width), np.result_type(x, w))
    per_group, rows = w.shape[1], w.shape[0] // group
    for m in range(w.shape[0]):
        first = m // rows * per_group
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                top, left = i * dilations[0], j * dilations[1]
                part = x[:, first:first + per_group,
                         top:top + (height - 1) * strides[0] + 1:strides[0],
                         left:left + (width - 1) * strides[1] + 1:strides[1]]
                y[:, m] += (part * w[m, :, i, j][None, :, None, None]).sum(1)
    return y


def conv_attributes(draw):
    kernel = [draw.number(1, 3), draw.number(1, 3)]
    return {"kernel_shape": kernel, "strides": [draw.number(1, 2), draw.number(1, 2)],
            "pads": [draw.number(0, 1) for _ in range(4)], "dilations": [1, draw.number(1, 2)],
            "group": draw.choice(1, 1, 2)}


def _window(attributes):
    return [attributes[key] for key in ("strides", "pads", "dilations", "group")]


@operator("FusedConv")
def _fused_conv(draw):
    attributes = conv_attributes(draw)
    group = attributes["group"]
    x = draw.reals(draw.number(1, 2), 2 * group, 7, 8)
    w = draw.reals(3 * group, 2, *attributes["kernel_shape"], low=-1, high=1)
    bias = draw.reals(3 * group) if draw.flag() else None
    y = conv(x.astype(np.float64), w, *_window(attributes))
    if bias is not None:
        y = y + bias[:, None, None]
    name = draw.choice(*_ACTIVATIONS)
    parameters, function = _ACTIVATIONS[name]
    z = draw.reals(*y.shape) if name == "Relu" and draw.flag() else None
    if z is not None:
        y = y + z
    attributes["activation"] = name
    if parameters:
        attributes["activation_params"] = parameters
    return Case({"x": x, "w": w, "bias": bias, "z": z}, [_float(function(y))], attributes, ("w",))


@operator("NhwcConv")
def _nhwc_conv(draw):
    attributes = conv_attributes(draw)
    group = attributes["group"]
    x = draw.reals(draw.number(1, 2), 2 * group, 7, 8)
    w = draw.reals(3 * group, 2, *attributes["kernel_shape"], low=-1, high=1)
    y = conv(x.astype(np.float64), w, *_window(attributes))
    x, w, y = (np.ascontiguousarray(np.moveaxis(t, 1, -1)) for t in (x, w, y))
    return Case({"x": x, "w": w}, [_float(y)], attributes, ("w",))


# --- Products of 8-bit tensors. -------------------------------------------------------------------


def quantise(x, scale, zero, dtype):
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x / scale) + zero, limits.min, limits.max).astype(dtype)


def zero_point(draw, dtype, *shape):
    low, high = (100, 156) if dtype == np.uint8 else (-20, 20)
    return draw.integers(low, high, *shape, dtype=dtype)


@operator("QLinearConv")
def _qlinear_conv(draw):
    attributes = {**conv_attributes(draw), "channels_last": draw.number(0, 1)}
    group = attributes["group"]
    dtype = draw.choice(np.uint8, np.int8)
    x, x_zero = draw.bytes(draw.number(1, 2), 2 * group, 7, 8, dtype=dtype), zero_point(draw, dtype)
    w_type = np.int8 if dtype == np.int8 else draw.choice(np.int8, np.uint8)
    w = draw.bytes(3 * group, 2, *attributes["kernel_shape"], dtype=w_type)
    w_zero = zero_point(draw, w_type) if w_type == np.uint8 else np.int8(0)
    per_channel = w_type == np.int8 and draw.flag()
    w_scale = draw.reals(*[3 * group] * per_channel, low=0.01, high=0.03)
    if per_channel:
        w_zero = np.zeros(3 * group, np.int8)
    bias = draw.integers(-900, 900, 3 * group, dtype=np.int32) if draw.flag() else None
    sums = conv(x.astype(np.int64) - int(x_zero), w.astype(np.int64) - int(w_zero.flat[0]),
                *_window(attributes), border=0)
    if bias is not None:
        sums = sums + bias[:, None, None]
    x_scale, y_scale = np.float32(0.02), np.float32(0.15)
    scale = x_scale * w_scale / y_scale
    y = quantise(sums * (scale[:, None, None] if per_channel else scale), 1, int(x_zero), dtype)
    if attributes["channels_last"]:
        x, y = (np.ascontiguousarray(np.moveaxis(t, 1, -1)) for t in (x, y))
    inputs = {"x": x, "x_scale": x_scale, "x_zero": x_zero, "w": w, "w_scale": w_scale,
              "w_zero": w_zero, "y_scale": y_scale, "y_zero": x_zero, "bias": bias}
    return Case(inputs, [y], attributes, tuple(name for name in inputs if name != "x"))


@operator("QGemm")
def _qgemm(draw):
    rows, depth, columns = draw.number(1, 6), draw.number(1, 40), draw.number(1, 9)
    a_type, b_type = draw.choice((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8))
    a, b = draw.bytes(rows, depth, dtype=a_type), draw.bytes(depth, columns, dtype=b_type)
    per_column = [columns] * draw.flag()
    a_zero, b_zero = zero_point(draw, a_type), zero_point(draw, b_type, *per_column)
    a_scale, b_scale = np.float32(0.02), draw.reals(*per_column, low=0.01, high=0.03)
    c = draw.integers(-900, 900, columns, dtype=np.int32) if draw.flag() else None
    attributes = {"transA": draw.number(0, 1), "transB": draw.number(0, 1),
                  "alpha": draw.choice(1.0, 0.5)}
    sums = (a.astype(np.int64) - int(a_zero)) @ (b.astype(np.int64) - b_zero.astype(np.int64))
    if c is not None:
        sums = sums + c
    scale = np.float32(attributes["alpha"]) * a_scale * b_scale
    inputs = {"a": a.T.copy() if attributes["transA"] else a, "a_scale": a_scale, "a_zero": a_zero,
              "b": b.T.copy() if attributes["transB"] else b, "b_scale": b_scale, "b_zero": b_zero,
              "c": c}
    if draw.flag():
        y = _float(sums * scale)
    else:
        inputs["y_scale"], inputs["y_zero"] = np.float32(0.1), zero_point(draw, a_type)
        y = quantise(sums * (scale / inputs["y_scale"]), 1, int(inputs["y_zero"]), a_type)
    constants = tuple(name for name in inputs if name not in ("a", "b"))
    return Case(inputs, [y], attributes, constants)


def _dynamic(a):
    """DynamicQuantizeLinear."""
    low, high = min(a.min(), np.float32(0)), max(a.max(), np.float32(0))
    scale = np.float32((high - low) / np.float32(255)) or np.float32(1)
    zero = np.clip(np.rint(-low / scale), 0, 255)
    return quantise(a, scale, zero, np.uint8), scale, int(zero)


@operator("DynamicQuantizeMatMul")
def _dynamic_quantize_matmul(draw):
    rows, depth, columns = draw.number(1, 6), draw.number(1, 40), draw.number(1, 9)
    a = draw.reals(*[draw.number(1, 3)] * draw.flag(), rows, depth)
    b_type, per_column = draw.choice(np.uint8, np.int8), [columns] * draw.flag()
    b = draw.bytes(depth, columns, dtype=b_type)
    b_scale = draw.reals(*per_column, low=.01, high=.03)
    b_zero = zero_point(draw, b_type, *per_column) if draw.flag() else None
    bias = draw.reals(columns) if draw.flag() else None
    q, scale, zero = _dynamic(a)
    sums = (q.astype(np.int64) - zero) @ (b.astype(np.int64) -
                                          (0 if b_zero is None else b_zero.astype(np.int64)))
    y = sums * (scale * b_scale.astype(np.float64)) + (0 if bias is None else bias)
    inputs = {"a": a, "b": b, "b_scale": b_scale, "b_zero": b_zero, "bias": bias}
    constants = tuple(name for name in inputs if name != "a") * draw.flag()
    return Case(inputs, [_float(y)], {}, constants)


@operator("MatMulIntegerToFloat")
def _matmul_integer_to_float(draw):
    rows, depth, columns = draw.number(1, 6), draw.number(1, 40), draw.number(1, 9)
    a_type, b_type = draw.choice((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8))
    per_column = [columns] * draw.flag()
    a = draw.bytes(*[draw.number(1, 3)] * draw.flag(), rows, depth, dtype=a_type)
    b = draw.bytes(depth, columns, dtype=b_type)
    b_scale = draw.reals(*per_column, low=.01, high=.03)
    a_zero = zero_point(draw, a_type) if draw.flag() else None
    b_zero = zero_point(draw, b_type, *per_column) if draw.flag() else None
    bias = draw.reals(columns) if draw.flag() else None
    left = a.astype(np.int64) - (0 if a_zero is None else int(a_zero))
    right = b.astype(np.int64) - (0 if b_zero is None else b_zero.astype(np.int64))
    y = left @ right * (0.02 * b_scale.astype(np.float64)) + (0 if bias is None else bias)
    inputs = {"a": a, "b": b, "a_scale": np.float32(0.02), "b_scale": b_scale, "a_zero": a_zero,
              "b_zero": b_zero, "bias": bias}
    constants = tuple(name for name in inputs if name != "a") * draw.flag()
    return Case(inputs, [_float(y)], {}, constants)
