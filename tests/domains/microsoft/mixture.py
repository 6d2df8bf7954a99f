"""Cases of mixtures of experts."""
import numpy as np

from operators import Case, operator, special
from .activations import sigmoid
from .block_quantised import pack


def _attributes(draw):
    kind = draw.choice("relu", "gelu", "silu", "identity", "swiglu")
    attributes = {"activation_type": kind, "k": draw.number(1, 2),
                  "normalize_routing_weights": draw.number(0, 1)}
    if kind == "swiglu":
        attributes.update(swiglu_fusion=1, activation_alpha=1.5, activation_beta=1.0)
        if draw.flag():
            attributes["swiglu_limit"] = 1.5
    return attributes


def _gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _activated(x, attributes):
    kind = attributes["activation_type"]
    if kind == "swiglu":
        limit = attributes.get("swiglu_limit", np.inf)
        gate, linear = np.minimum(x[..., 0::2], limit), np.clip(x[..., 1::2], -limit, limit)
        return gate * sigmoid(1.5 * gate) * (linear + 1)
    functions = {"relu": lambda x: np.maximum(x, 0), "gelu": _gelu,
                 "silu": lambda x: x * sigmoid(x), "identity": lambda x: x}
    return functions[kind](x)


def _mixture(x, logits, layers, attributes, normalises):
    """layers: (weights, bias) of fc1 and fc2."""
    rows = x.reshape(-1, x.shape[-1]).astype(np.float64)
    powers = np.exp(logits.astype(np.float64) - logits.max(1, keepdims=True))
    chances = powers / powers.sum(1, keepdims=True)
    y = np.zeros_like(rows)
    for i, row in enumerate(rows):
        # Of equal logits, those of the last experts.
        chosen = logits.shape[1] - 1 - np.argsort(-logits[i, ::-1], kind="stable")
        chosen = chosen[:attributes["k"]]
        share = chances[i, chosen]
        if normalises:
            share = share / share.sum()
        for part, expert in zip(share, chosen):
            hidden = _activated(row @ layers[0][0][expert].T + layers[0][1][expert], attributes)
            y[i] += part * (hidden @ layers[1][0][expert].T + layers[1][1][expert])
    return y.reshape(x.shape).astype(np.float32)


def _sizes(draw, attributes):
    depth, inner = draw.choice(16, 32), draw.choice(16, 32)
    fused = 2 if attributes["activation_type"] == "swiglu" else 1
    experts, tokens = draw.number(2, 5), draw.number(1, 5)
    shape = (1, tokens, depth) if draw.flag() else (tokens, depth)
    x, logits = draw.reals(*shape), draw.reals(tokens, experts)
    if attributes["k"] > 1:
        logits = np.round(logits)  # some are equal
    return depth, inner, fused * inner, experts, x, logits


@operator("MoE")
def _moe(draw):
    attributes = _attributes(draw)
    depth, inner, wide, experts, x, logits = _sizes(draw, attributes)
    layers = [(draw.reals(experts, wide, depth, low=-.3, high=.3), draw.reals(experts, wide)),
              (draw.reals(experts, depth, inner, low=-.3, high=.3), draw.reals(experts, depth))]
    y = _mixture(x, logits, layers, attributes, attributes["normalize_routing_weights"])
    return Case({"x": x, "logits": logits, "fc1": layers[0][0], "b1": layers[0][1],
                 "fc2": layers[1][0], "b2": layers[1][1]}, [y], attributes,
                ("fc1", "b1", "fc2", "b2"))


@operator("QMoE")
def _qmoe(draw):
    attributes = _attributes(draw)
    bits = draw.choice(4, 8)
    attributes["expert_weight_bits"] = bits
    depth, inner, wide, experts, x, logits = _sizes(draw, attributes)
    inputs, layers = {"x": x, "logits": logits}, []
    for name, results, size in (("1", wide, depth), ("2", depth, inner)):
        q = draw.integers(0, 1 << bits, experts, results, size)
        scales = draw.reals(experts, results, low=0.02, high=0.05) / (1 if bits == 4 else 16)
        bias = draw.reals(experts, results)
        layers.append(((q - (1 << (bits - 1))) * scales[:, :, None], bias))
        inputs.update({f"fc{name}": pack(q, bits), f"s{name}": scales, f"b{name}": bias})
    # QMoE of ONNX Runtime normalises without the attribute, too.
    y = _mixture(x, logits, layers, attributes, True)
    return Case(inputs, [y], attributes, tuple(inputs)[2:])


@special("blocks", "QMoE")
def _blocks(draw):
    """Weights that can have scales of blocks and zero points, and that need not be constants."""
    attributes = _attributes(draw)
    bits, block, has_zeros = draw.choice(2, 4, 8), draw.choice(0, 16, 16), draw.flag()
    attributes["expert_weight_bits"] = bits
    depth, inner, wide, experts, x, logits = _sizes(draw, attributes)
    # ONNX Runtime has another layout of single blocks.
    block = block if min(depth, inner) > block else 0
    if block:
        attributes["block_size"] = block
    inputs, layers, zeros = {"x": x, "logits": logits}, [], {}
    for name, results, size in (("1", wide, depth), ("2", depth, inner)):
        shape = (experts, results, size // block) if block else (experts, results)
        q = draw.integers(0, 1 << bits, experts, results, size)
        scales = draw.reals(*shape, low=0.02, high=0.05) / (16 if bits == 8 else 1)
        zero = draw.integers(0, 1 << bits, *shape) if has_zeros else np.full(shape, 1 << (bits - 1))
        if has_zeros:
            zeros[f"z{name}"] = pack(zero, bits)
        wide_scales, wide_zero = (np.repeat(part.reshape(experts, results, -1),
                                            block or size, 2) for part in (scales, zero))
        layers.append(((q - wide_zero) * wide_scales, draw.reals(experts, results)))
        inputs.update({f"fc{name}": pack(q, bits), f"s{name}": scales, f"b{name}": layers[-1][1]})
    inputs.update({"fc3": None, "s3": None, "b3": None, **zeros})
    y = _mixture(x, logits, layers, attributes, True)
    names = [name for name in list(inputs)[2:] if inputs[name] is not None]
    return Case(inputs, [y], attributes, tuple(names) * draw.flag(), tuple(names))
