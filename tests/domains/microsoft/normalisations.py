"""Cases of normalisations."""
import numpy as np

from operators import Case, operator
from .activations import sigmoid


def _standardise(x, epsilon, centred=True):
    """The standardised rows of x, and the mean and 1 / deviation of each row."""
    x = x.astype(np.float64)
    mean = x.mean(-1, keepdims=True) if centred else 0.0
    reciprocal = 1 / np.sqrt(((x - mean)**2).mean(-1, keepdims=True) + epsilon)
    return (x - mean) * reciprocal, mean, reciprocal


def _float(x):
    return np.asarray(x, np.float32)


@operator("SimplifiedLayerNormalization", "")
def _simplified(draw):
    x = draw.reals(*[draw.number(1, 6) for _ in range(draw.number(2, 4))])
    axis = draw.choice(-1, x.ndim - 1, x.ndim - 2)
    attributes = {"axis": axis, "epsilon": draw.choice(1e-5, 1e-2)} if draw.flag() else {}
    axis = attributes.get("axis", -1) % x.ndim
    scale = draw.reals(*x.shape[axis:])
    rows = x.reshape(*x.shape[:axis], -1)
    y, _, reciprocal = _standardise(rows, attributes.get("epsilon", 1e-5), centred=False)
    reciprocal = reciprocal.reshape(*x.shape[:axis], *[1] * (x.ndim - axis))
    return Case({"x": x, "scale": scale},
                [_float(y.reshape(x.shape) * scale), _float(reciprocal) if draw.flag() else None],
                attributes)


def _skip_inputs(draw):
    x = draw.reals(*[draw.number(1, 5) for _ in range(draw.number(1, 2))], draw.choice(3, 8, 17))
    kind = draw.choice("same", "same", "row", "flat") if x.ndim == 3 else "same"
    shape = {"same": x.shape, "row": (1, *x.shape[1:]), "flat": x.shape[1:]}[kind]
    return x, draw.reals(*shape)


def _attributes(draw):
    return {"epsilon": draw.choice(1e-5, 1e-2)} if draw.flag() else {}


@operator("SkipLayerNormalization")
def _skip(draw):
    x, skip = _skip_inputs(draw)
    width = x.shape[-1]
    gamma, attributes = draw.reals(width), _attributes(draw)
    beta = draw.reals(width) if draw.flag() else None
    bias = draw.reals(width) if draw.flag() else None
    total = x + skip + (0 if bias is None else bias)
    y, _, _ = _standardise(total, attributes.get("epsilon", 1e-12))
    y = y * gamma + (0 if beta is None else beta)
    results = [_float(y), None, None, total if draw.flag() else None]
    return Case({"x": x, "skip": skip, "gamma": gamma, "beta": beta, "bias": bias}, results,
                attributes, ("gamma",))


@operator("SkipSimplifiedLayerNormalization")
def _skip_simplified(draw):
    x, skip = _skip_inputs(draw)
    width = x.shape[-1]
    gamma, attributes = draw.reals(width), _attributes(draw)
    bias = draw.reals(width) if draw.flag() else None
    total = x + skip + (0 if bias is None else bias)
    y, _, _ = _standardise(total, attributes.get("epsilon", 1e-12), centred=False)
    results = [_float(y * gamma), None, None, total if draw.flag() else None]
    return Case({"x": x, "skip": skip, "gamma": gamma, "bias": bias}, results, attributes)


@operator("EmbedLayerNormalization")
def _embed(draw):
    batch, length, width = draw.number(1, 3), draw.number(1, 6), draw.choice(4, 8, 12)
    words, places = draw.reals(11, width), draw.reals(length + 2, width)
    ids = draw.integers(0, 11, batch, length, dtype=np.int32)
    total, segments, table = words[ids], None, None
    if draw.flag():
        table = draw.reals(2, width)
        segments = draw.integers(0, 2, batch, length, dtype=np.int32)
        total = total + table[segments]
    positions = None
    if draw.flag():
        rows = draw.choice(1, batch)
        positions = draw.integers(0, length + 2, rows, length, dtype=np.int32)
    total = total + places[np.arange(length)[None] if positions is None else positions]
    mask, counts = None, np.zeros(batch, np.int32)
    if draw.flag():
        counts = draw.integers(0, length + 1, batch, dtype=np.int32)
        mask = (np.arange(length)[None] < counts[:, None]).astype(np.int32)
    gamma, beta, attributes = draw.reals(width), draw.reals(width), _attributes(draw)
    y, _, _ = _standardise(total, attributes.get("epsilon", 1e-12))
    return Case({"ids": ids, "segments": segments, "words": words, "places": places,
                 "table": table, "gamma": gamma, "beta": beta, "mask": mask,
                 "positions": positions},
                [_float(y * gamma + beta), counts, total if draw.flag() else None], attributes,
                fixed=("words", "places", "table", "gamma", "beta"))


def _group_norm(draw, x, gamma, beta):
    """The attributes of GroupNorm, and its result for x."""
    is_last = draw.flag()
    attributes = {"groups": 2, "activation": draw.number(0, 1), "channels_last": int(is_last)}
    epsilon = 1e-5
    channels = np.moveaxis(x, 3, 1) if is_last else x
    rows = channels.reshape(x.shape[0], 2, -1)
    y = _standardise(rows, epsilon)[0].reshape(channels.shape)
    y = y * gamma[:, None, None] + beta[:, None, None]
    if attributes["activation"]:
        y = y * sigmoid(y)
    return attributes, _float(np.moveaxis(y, 1, 3) if is_last else y)


@operator("GroupNorm")
def _plain_group_norm(draw):
    x = draw.reals(draw.number(1, 2), 4, 4, 4)
    gamma, beta = draw.reals(4), draw.reals(4)
    attributes, y = _group_norm(draw, x, gamma, beta)
    return Case({"x": x, "gamma": gamma, "beta": beta}, [y], attributes)


@operator("SkipGroupNorm")
def _skip_group_norm(draw):
    x, skip = draw.reals(2, 4, 4, 4), draw.reals(2, 4, 4, 4)
    gamma, beta = draw.reals(4), draw.reals(4)
    attributes, y = _group_norm(draw, x + skip, gamma, beta)
    return Case({"x": x, "gamma": gamma, "beta": beta, "skip": skip}, [y, x + skip], attributes)


@operator("GatedRMSNorm")
def _gated_rms_norm(draw):
    x = draw.reals(*[draw.number(1, 5) for _ in range(draw.number(1, 3))])
    gate, scale = draw.reals(*x.shape), draw.reals(x.shape[-1])
    attributes = _attributes(draw)
    y, _, _ = _standardise(x, attributes.get("epsilon", 1e-5), centred=False)
    activation = draw.choice(None, "silu", "swish", "sigmoid")
    if activation:
        attributes["activation"] = activation
    factor = sigmoid(gate) if activation == "sigmoid" else gate * sigmoid(gate)
    return Case({"x": x, "scale": scale, "gate": gate}, [_float(y * scale * factor)], attributes)
