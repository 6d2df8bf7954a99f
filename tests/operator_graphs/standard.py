"""Case makers of operators of the standard domain: those of opsets 23 to 27, and common ones that
connect them. The attribute `op` of a case replaces the name of its operator."""
import numpy as np

import onnx_file
from microsoft import recurrent
from microsoft.activations import gelu, sigmoid
from microsoft.attention import attend, merge, split
from operators import Case, operator


def _float(x):
    return np.asarray(x, np.float32)


def _shape(draw, least=1, most=4):
    return [draw.number(1, 6) for _ in range(draw.number(least, most))]


# --- Elementwise. ---------------------------------------------------------------------------------

_UNARY = {
    "Relu": lambda x: np.maximum(x, 0), "Tanh": np.tanh, "Abs": np.abs, "Neg": np.negative,
    "Sigmoid": sigmoid, "Softplus": lambda x: np.log1p(np.exp(x)), "Sin": np.sin,
    "Identity": lambda x: x, "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1), "Gelu": gelu}
_BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum,
           "Min": np.minimum}


@operator("Unary", "", 20)
def _unary(draw):
    name = draw.choice(*_UNARY)
    x = draw.reals(*_shape(draw))
    return Case({"x": x}, [_float(_UNARY[name](x.astype(np.float64)))], {"op": name})


@operator("Swish", "", 24)
def _swish(draw):
    x, alpha = draw.reals(*_shape(draw)), draw.choice(1.0, 0.5, -1.5)
    return Case({"x": x}, [_float(x * sigmoid(alpha * x))], {"alpha": alpha})


@operator("Binary", "")
def _binary(draw):
    name, shape = draw.choice(*_BINARY), _shape(draw)
    other = [draw.choice(size, size, 1) for size in shape][draw.number(0, len(shape) - 1):]
    a, b = draw.reals(*shape), draw.reals(*other)
    if draw.flag():
        a, b = b, a
    return Case({"a": a, "b": b}, [_BINARY[name](a, b)], {"op": name})


@operator("Where", "", 16)
def _where(draw):
    shape = _shape(draw)
    a, b, threshold = draw.reals(*shape), draw.reals(*shape), draw.reals(*shape[1:])
    return Case({"condition": threshold > 0, "a": a, "b": b}, [np.where(threshold > 0, a, b)])


@operator("BitCast", "", 26)
def _bit_cast(draw):
    if draw.flag():
        x = draw.bytes(*_shape(draw), dtype=draw.choice(np.uint8, np.int8))
        to = np.dtype(np.int8 if x.dtype == np.uint8 else np.uint8)
    else:
        x, to = draw.reals(*_shape(draw)), np.dtype(np.int32)
    return Case({"x": x}, [x.view(to)], {"to": onnx_file.tensor_type(np.zeros(0, to))})


@operator("CumProd", "", 26)
def _cum_prod(draw):
    x = draw.reals(*_shape(draw))
    axis = draw.number(-x.ndim, x.ndim - 1)
    exclusive, reverse = draw.number(0, 1), draw.number(0, 1)
    y = np.flip(x, axis) if reverse else x
    y = np.cumprod(y.astype(np.float64), axis)
    if exclusive:
        y = np.roll(y, 1, axis)
        np.moveaxis(y, axis, 0)[0] = 1
    y = np.flip(y, axis) if reverse else y
    return Case({"x": x, "axis": np.int64(axis)}, [_float(y)],
                {"exclusive": exclusive, "reverse": reverse}, ("axis",))


@operator("Range", "", 11)
def _range(draw):
    start, count, step = draw.number(-3, 3), draw.number(1, 6), draw.choice(1, 2, -1)
    bounds = [np.int64(number) for number in (start, start + count * step, step)]
    y = np.arange(*bounds)
    return Case(dict(zip(("start", "limit", "delta"), bounds)), [y], {}, ("delta",) * draw.flag())


# --- Layout. --------------------------------------------------------------------------------------


@operator("Transpose", "", 13)
def _transpose(draw):
    x = draw.reals(*_shape(draw, 2))
    order = [int(axis) for axis in draw.permutation(x.ndim)]
    return Case({"x": x}, [x.transpose(order)], {"perm": order})


@operator("Concat", "", 13)
def _concat(draw):
    shape = _shape(draw)
    axis, parts = draw.number(-len(shape), len(shape) - 1), {}
    for i in range(draw.number(2, 3)):
        shape[axis] = draw.number(1, 5)
        parts[f"x{i}"] = draw.reals(*shape)
    return Case(parts, [np.concatenate(list(parts.values()), axis)], {"axis": axis})


@operator("Split", "", 18)
def _split(draw):
    shape = _shape(draw)
    axis = draw.number(0, len(shape) - 1)
    shape[axis] = 2 * draw.number(1, 3)
    x = draw.reals(*shape)
    return Case({"x": x}, np.split(x, 2, axis), {"axis": axis, "num_outputs": 2})


@operator("Gather", "", 13)
def _gather(draw):
    x = draw.reals(*_shape(draw))
    axis = draw.number(0, x.ndim - 1)
    indices = draw.integers(0, x.shape[axis], *[draw.number(1, 4)] * draw.flag())
    return Case({"x": x, "indices": indices}, [np.take(x, indices, axis)], {"axis": axis})


@operator("TensorScatter", "", 24)
def _tensor_scatter(draw):
    batch, heads, length, size = (draw.number(1, 4) for _ in range(4))
    capacity, mode = length + draw.number(0, 3), draw.choice("linear", "circular")
    cache, update = draw.reals(batch, heads, capacity, size), draw.reals(batch, heads, length, size)
    most = capacity if mode == "circular" else capacity - length + 1
    first = draw.integers(0, most, batch) if draw.flag() else None
    y = cache.copy()
    for b in range(batch):
        rows = ((0 if first is None else first[b]) + np.arange(length)) % capacity
        y[b, :, rows] = update[b].transpose(1, 0, 2)
    return Case({"cache": cache, "update": update, "first": first}, [y], {"mode": mode})


# --- Rows. ----------------------------------------------------------------------------------------


@operator("Softmax", "", 13)
def _softmax(draw):
    x = draw.reals(*_shape(draw))
    axis = draw.number(-x.ndim, x.ndim - 1)
    y = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return Case({"x": x}, [_float(y / y.sum(axis, keepdims=True))], {"axis": axis})


@operator("ReduceMean", "", 18)
def _reduce_mean(draw):
    x, keepdims = draw.reals(*_shape(draw, 2)), draw.number(0, 1)
    axes = sorted({draw.number(0, x.ndim - 1) for _ in range(2)})
    y = x.astype(np.float64).mean(tuple(axes), keepdims=bool(keepdims))
    return Case({"x": x, "axes": np.array(axes)}, [_float(y)], {"keepdims": keepdims}, ("axes",))


@operator("MatMul", "", 13)
def _matmul(draw):
    rows, depth, columns = (draw.number(1, 6) for _ in range(3))
    a, b = draw.reals(*_shape(draw, 0, 2), rows, depth), draw.reals(depth, columns)
    return Case({"a": a, "b": b}, [_float(a.astype(np.float64) @ b)], {}, ("b",) * draw.flag())


def _rows(x, axis):
    return tuple(range(axis % x.ndim, x.ndim)), x.astype(np.float64)


@operator("LayerNormalization", "", 17)
def _layer_norm(draw):
    x = draw.reals(*_shape(draw, 2))
    axis = draw.number(-2, -1)
    axes, wide = _rows(x, axis)
    scale, bias = draw.reals(*x.shape[axis:]), draw.reals(*x.shape[axis:]) if draw.flag() else None
    mean = wide.mean(axes, keepdims=True)
    y = (wide - mean) / np.sqrt(((wide - mean)**2).mean(axes, keepdims=True) + 1e-2) * scale
    return Case({"x": x, "scale": scale, "bias": bias}, [_float(y if bias is None else y + bias)],
                {"axis": axis, "epsilon": 1e-2})


@operator("RMSNormalization", "", 23)
def _rms_norm(draw):
    x = draw.reals(*_shape(draw, 2))
    axis = draw.number(-2, -1)
    axes, wide = _rows(x, axis)
    scale = draw.reals(*x.shape[axis:])
    y = wide / np.sqrt((wide**2).mean(axes, keepdims=True) + 1e-3) * scale
    return Case({"x": x, "scale": scale}, [_float(y)], {"axis": axis, "epsilon": 1e-3})


# --- Quantisation. --------------------------------------------------------------------------------


@operator("QuantizeLinear", "", 21)
def _quantize_linear(draw):
    x, dtype = draw.reals(*_shape(draw)), draw.choice(np.uint8, np.int8, np.uint16, np.int16)
    scale = draw.reals(*[x.shape[-1]] * draw.flag(), low=0.02, high=0.1)
    zero = np.full(scale.shape, 7, dtype)
    limits = np.iinfo(dtype)
    y = np.clip(np.rint(x / scale) + 7, limits.min, limits.max).astype(dtype)
    return Case({"x": x, "scale": scale, "zero": zero}, [y], {"axis": -1}, ("zero",))


@operator("DequantizeLinear", "", 21)
def _dequantize_linear(draw):
    x = draw.bytes(*_shape(draw), dtype=draw.choice(np.uint8, np.int8, np.uint16, np.int16))
    scale = draw.reals(*[x.shape[-1]] * draw.flag(), low=0.005, high=0.01)
    zero = np.full(scale.shape, 9, x.dtype)
    return Case({"x": x, "scale": scale, "zero": zero},
                [_float((x.astype(np.int64) - 9) * scale.astype(np.float64))], {"axis": -1},
                ("zero",))


# --- Language models. -----------------------------------------------------------------------------


@operator("Attention", "", 23)
def _attention(draw):
    batch, rows, keys, kv_heads = (draw.number(1, most) for most in (3, 5, 6, 2))
    size = draw.choice(4, 8)
    heads, value_size = kv_heads * draw.number(1, 2), draw.choice(size, 3)
    q = draw.reals(batch, heads, rows, size)
    k, v = draw.reals(batch, kv_heads, keys, size), draw.reals(batch, kv_heads, keys, value_size)
    attributes, is_flat = {"is_causal": draw.number(0, 1)}, draw.flag()
    if draw.flag():
        attributes["scale"] = 0.3
    if draw.flag():
        attributes["softcap"] = 2.0
    past = [draw.reals(batch, kv_heads, draw.choice(1, 3), x.shape[3]) for x in (k, v)]
    if not draw.flag() or past[0].shape[2] != past[1].shape[2]:
        past = [None, None]
    before = 0 if past[0] is None else past[0].shape[2]
    all_k, all_v = k, v
    if before:
        all_k, all_v = (np.concatenate(pair, 2) for pair in zip(past, (k, v)))
    mask = draw.reals(*draw.choice((), (heads,), (batch, 1)), rows, before + keys)
    mask = mask if draw.flag() else None
    allowed = None
    if attributes["is_causal"]:
        allowed = np.arange(before + keys) <= before + np.arange(rows)[:, None]
    y = attend(q, all_k, all_v, 0.0 if mask is None else mask, allowed, attributes.get("scale"),
               attributes.get("softcap", 0))
    if is_flat:
        attributes.update(q_num_heads=heads, kv_num_heads=kv_heads)
        q, k, v, y = (merge(x) for x in (q, k, v, y))
    present = [_float(all_k), _float(all_v)] if before else []
    return Case({"q": q, "k": k, "v": v, "mask": mask, "past_k": past[0], "past_v": past[1]},
                [_float(y), *present], attributes)


def _score_graph(name, shape):
    scores = [onnx_file.value_info(name, onnx_file.FLOAT, shape) for name in ("s", "t")]
    return onnx_file.graph([onnx_file.node("Tanh", ["s"], ["t"])], name, scores[:1], scores[1:])


@operator("FlexAttention", "ai.onnx.preview")
def _flex_attention(draw):
    batch, heads, rows, keys = (draw.number(1, 3) for _ in range(4))
    size, scale = draw.choice(4, 8), draw.choice(0.3, 0.5)
    q, k, v = (draw.reals(batch, heads, length, size) for length in (rows, keys, keys))
    attributes = {"scale": scale}
    scores = scale * (q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3))
    if draw.flag():
        attributes["score_mod"] = _score_graph("score_mod", [None] * 4)
        scores = np.tanh(scores)
    chances = np.exp(scores)
    chances /= chances.sum(-1, keepdims=True)
    if draw.flag():
        attributes["prob_mod"] = _score_graph("prob_mod", [None] * 4)
        chances = np.tanh(chances)
    return Case({"q": q, "k": k, "v": v}, [_float(chances @ v)], attributes)


@operator("RotaryEmbedding", "", 23)
def _rotary(draw):
    batch, rows, heads = (draw.number(1, most) for most in (3, 5, 3))
    size = draw.choice(4, 8)
    x, angles = draw.reals(batch, heads, rows, size), draw.reals(9, size // 2)
    positions, interleaved = draw.integers(0, 9, batch, rows), draw.number(0, 1)
    tables = [np.cos(angles), np.sin(angles)]
    cosines, sines = (table[positions][:, None] for table in tables)
    first, second = ((np.s_[..., 0::2], np.s_[..., 1::2]) if interleaved else
                     (np.s_[..., :size // 2], np.s_[..., size // 2:]))
    y = x.copy()
    y[first] = x[first] * cosines - x[second] * sines
    y[second] = x[first] * sines + x[second] * cosines
    attributes = {"interleaved": interleaved}
    if draw.flag():
        attributes["num_heads"] = heads
        x, y = merge(x), merge(y)
    return Case({"x": x, "cos": tables[0], "sin": tables[1], "positions": positions}, [y],
                attributes, ("cos", "sin"))


def _renamed(make, removed):
    """A case of the operator of com.microsoft, without attributes that the standard one lacks."""
    def generate(draw):
        case = make(draw)
        for key in removed:
            case.attributes.pop(key, None)
        return case
    return generate


operator("LinearAttention", "", 27)(_renamed(recurrent._linear_attention, ("state_window",)))
