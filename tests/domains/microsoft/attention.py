"""Cases of attention."""
import numpy as np

from operators import Case, operator
from .contractions import zero_point


def _float(x):
    return np.asarray(x, np.float32)


def softmax(x, sinks=None):
    """Softmax of the last axis, with one more score for each head if there are sinks."""
    most = x.max(-1, keepdims=True)
    if sinks is not None:
        sinks = np.broadcast_to(np.reshape(sinks, (1, -1, 1, 1)), most.shape)
        most = np.maximum(most, sinks)
    y = np.exp(x - most)
    total = y.sum(-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks - most)
    return y / total


def scores_of(q, k, bias=0.0, scale=None, softcap=0.0):
    """The scores before masks. q, k: [batch, heads, length, size]. `bias` broadcasts to them."""
    q, k = q.astype(np.float64), np.repeat(k.astype(np.float64), q.shape[1] // k.shape[1], 1)
    scores = q @ k.swapaxes(2, 3) * (scale or 1 / np.sqrt(q.shape[3]))
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    return scores + bias


def attend(q, k, v, bias=0.0, allowed=None, scale=None, softcap=0.0, sinks=None):
    """The arguments of scores_of(), v like k, and `allowed`, which broadcasts to the scores."""
    scores = scores_of(q, k, bias, scale, softcap)
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    return softmax(scores, sinks) @ np.repeat(v.astype(np.float64), q.shape[1] // v.shape[1], 1)


def split(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def merge(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def _causal(rows, keys, past):
    return np.arange(keys)[None] <= past + np.arange(rows)[:, None]


def _padding(draw, batch, rows, keys):
    """A mask input, and the numbers that it adds to the scores."""
    fill = -10000.0
    kind = draw.choice("none", "ends", "keys", "rows")
    if kind == "none":
        return None, 0.0
    # Key 0 is never masked: scores would be rounded to those of the number -10000.
    if kind == "ends":
        given = draw.integers(1, keys + 1, batch, dtype=np.int32)
        allowed = (np.arange(keys)[None] < given[:, None])[:, None, None]
    elif kind == "keys":
        given = draw.integers(0, 2, batch, keys, dtype=np.int32)
        given[:, 0] = 1
        allowed = given[:, None, None] > 0
    else:
        given = draw.integers(0, 2, batch, rows, keys, dtype=np.int32)
        given[:, :, 0] = 1
        allowed = given[:, None] > 0
    return given, np.where(allowed, 0.0, fill)


def _dims(draw):
    return draw.number(1, 3), draw.number(1, 5), draw.choice(1, 2, 3), draw.choice(2, 4, 8)


def _packed(draw, packed, heads, size, batch, rows):
    """What Attention and QAttention share: attributes, mask, past, and results."""
    attributes = {"num_heads": heads, "unidirectional": draw.number(0, 1)}
    if draw.number(0, 3) == 0:
        attributes["scale"] = 0.3
    q, k, v = (split(x, heads) for x in np.split(packed, 3, 2))
    past = None
    if draw.flag():
        past = draw.reals(2, batch, heads, draw.number(1, 4), size)
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    keys = k.shape[2]
    mask, bias = _padding(draw, batch, rows, keys)
    allowed = _causal(rows, keys, keys - rows) if attributes["unidirectional"] else None
    y = merge(attend(q, k, v, bias, allowed, attributes.get("scale")))
    results = [_float(y)]
    if past is not None:
        results.append(_float(np.stack([k, v])))
    return attributes, mask, past, results


@operator("Attention")
def _attention(draw):
    batch, rows, heads, size = _dims(draw)
    width = draw.choice(5, 8)
    x, w = draw.reals(batch, rows, width), draw.reals(width, 3 * heads * size, low=-1, high=1)
    # Without a bias, ONNX Runtime crashes.
    bias = draw.reals(3 * heads * size) if draw.number(0, 5) else None
    packed = x @ w + (0 if bias is None else bias)
    attributes, mask, past, results = _packed(draw, packed, heads, size, batch, rows)
    inputs = {"x": x, "w": w, "bias": bias, "mask": mask, "past": past}
    constants = () if bias is None else ("w", "bias")
    return Case(inputs, results, attributes, constants, ("w", "mask", "past"))


@operator("QAttention")
def _qattention(draw):
    batch, rows, heads, size = _dims(draw)
    width = draw.choice(5, 8)
    x = draw.bytes(batch, rows, width)
    w_type = draw.choice(np.uint8, np.int8)
    w = draw.bytes(width, 3 * heads * size, dtype=w_type)
    count = [3 * heads * size] * draw.flag()
    x_zero, w_zero = zero_point(draw, np.uint8), zero_point(draw, w_type)
    x_scale, w_scale = np.float32(0.01), draw.reals(*count, low=0.005, high=0.01)
    bias = draw.reals(3 * heads * size)
    sums = (x.astype(np.int64) - int(x_zero)) @ (w.astype(np.int64) - int(w_zero))
    packed = sums * (x_scale * w_scale) + bias
    attributes, mask, past, results = _packed(draw, packed, heads, size, batch, rows)
    if past is None:
        results.append(None)
    inputs = {"x": x, "w": w, "bias": bias, "x_scale": x_scale, "w_scale": w_scale, "mask": mask,
              "x_zero": x_zero, "w_zero": w_zero, "past": past}
    constants = ("w", "bias", "x_scale", "w_scale", "x_zero", "w_zero")
    return Case(inputs, results, attributes, constants, ("mask", "past"))


@operator("MultiHeadAttention")
def _multi_head_attention(draw):
    batch, rows, heads, size = _dims(draw)
    # ONNX Runtime has no packed forms for CPUs.
    form = draw.choice("three", "three", "three", "heads", "packed", "pair")
    length = rows if form == "packed" else draw.number(1, 6)
    value_size = draw.choice(size, 3) if form == "three" else size
    q, k = draw.reals(batch, rows, heads * size), draw.reals(batch, length, heads * size)
    v = draw.reals(batch, length, heads * value_size)
    attributes = {"num_heads": heads}
    if draw.number(0, 3) == 0:
        attributes["scale"] = 0.3
    inputs = {"q": q, "k": k, "v": v}
    parts = [x.reshape(batch, -1, heads, size) for x in (q, k, v)] if form in (
        "packed", "pair") else []
    if form == "packed":
        inputs = {"q": np.stack(parts, 3), "k": None, "v": None}
    elif form == "pair":
        inputs = {"q": q, "k": np.stack(parts[1:], 3), "v": None}
    elif form == "heads":
        inputs = {"q": q, "k": split(k, heads), "v": split(v, heads)}
    inputs["bias"] = None
    if form == "three" and draw.flag():
        bias = draw.reals(q.shape[2] + k.shape[2] + v.shape[2])
        inputs["bias"] = bias
        q, k, v = (x + part for x, part in zip(
            (q, k, v), np.split(bias, [q.shape[2], q.shape[2] + k.shape[2]])))
    q, k, v = (split(x, heads) for x in (q, k, v))
    past = [None, None]
    if form == "three" and length == rows and draw.flag():
        count = draw.number(1, 4)
        past = [draw.reals(batch, heads, count, x.shape[3]) for x in (k, v)]
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    keys = k.shape[2]
    mask, bias = _padding(draw, batch, rows, keys)
    inputs["mask"] = mask
    inputs["more"] = None
    if draw.number(0, 2) == 0:
        inputs["more"] = draw.reals(draw.choice(1, batch), draw.choice(1, heads), rows, keys)
        bias = bias + inputs["more"]
    inputs["past_k"], inputs["past_v"] = past
    allowed = None
    # With more keys, the last row of ONNX Runtime attends to all of them.
    if length == rows and draw.flag():
        attributes["unidirectional"] = 1
        allowed = _causal(rows, keys, 0 if past[0] is None else past[0].shape[2])
    y = merge(attend(q, k, v, bias, allowed, attributes.get("scale")))
    results = [_float(y)]
    if past[0] is not None:
        results += [_float(k), _float(v)]
    return Case(inputs, results, attributes, (), tuple(inputs)[1:])
