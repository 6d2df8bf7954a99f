"""Cases of DynamicQuantizeLSTM and of the operators of state space models."""
import numpy as np

from operators import Case, operator
from .activations import sigmoid


def _float(x):
    return np.asarray(x, np.float32)


def quantised(x):
    """The u8 values, scale and zero point of DynamicQuantizeLinear."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = np.float32((high - low) / 255) if high > low else np.float32(1)
    zero = np.clip(np.rint(-low / scale), 0, 255)
    return np.clip(np.rint(x / scale) + zero, 0, 255), scale, zero


def _product(x, weights, scale, zero):
    """x @ weights, with x quantised as a whole."""
    values, x_scale, x_zero = quantised(x)
    sums = (values - x_zero) @ (weights.astype(np.float64) - zero)
    return _float(_float(sums) * (x_scale * scale))


def _lstm(x, h, c, w, r, bias, peepholes):
    """The hidden states of all steps, and the last cell state. w and r: (weights, scale, zero)."""
    length, batch, size = x.shape
    hidden = h.shape[1]
    projected = _product(x.reshape(-1, size), *w).reshape(length, batch, -1) + bias
    steps = []
    for step in projected:
        i, o, f, g = np.split(step + _product(h, *r), 4, axis=1)
        pi, po, pf = np.split(peepholes, 3)
        i, f, g = sigmoid(i + pi * c), sigmoid(f + pf * c), np.tanh(g)
        c = _float(f * c + i * g)
        h = _float(sigmoid(o + po * c) * np.tanh(c))
        steps.append(h)
    assert hidden == steps[0].shape[1]
    return np.stack(steps), c


@operator("DynamicQuantizeLSTM")
def _dynamic_quantize_lstm(draw):
    length, batch = draw.number(1, 5), draw.number(1, 3)
    size, hidden = draw.number(1, 8), draw.choice(2, 4, 8)
    direction = draw.choice("forward", "reverse", "bidirectional")
    count = 2 if direction == "bidirectional" else 1
    dtype = draw.choice(np.uint8, np.int8)
    x = draw.reals(length, batch, size)
    weights = {}
    for name, rows in (("W", size), ("R", hidden)):
        values = draw.bytes(count, rows, 4 * hidden, dtype=dtype)
        shape = (count, 4 * hidden) if dtype == np.int8 and draw.flag() else (count,)
        # ONNX Runtime permits only zero points of 0 with a scale for each column.
        zero = draw.bytes(*shape, dtype=dtype) if shape == (count,) else np.zeros(shape, dtype)
        weights[name] = values, draw.reals(*shape, low=0.001, high=0.01), zero
    bias = draw.reals(count, 8 * hidden) if draw.flag() else None
    h = draw.reals(count, batch, hidden, low=-1.0, high=1.0) if draw.flag() else None
    c = draw.reals(count, batch, hidden) if draw.flag() else None
    peepholes = draw.reals(count, 3 * hidden) if draw.flag() else None
    steps, last_h, last_c = [], [], []
    nothing = np.zeros((batch, hidden), np.float32)
    for i in range(count):
        is_reverse = direction == "reverse" or i == 1
        y, state = _lstm(
            x[::-1] if is_reverse else x, nothing if h is None else h[i],
            nothing if c is None else c[i],
            *[(values[i], scale[i], zero[i].astype(np.float64))
              for values, scale, zero in weights.values()],
            0 if bias is None else np.add(*np.split(bias[i], 2)),
            np.zeros(3 * hidden) if peepholes is None else peepholes[i])
        last_h.append(y[-1])
        last_c.append(state)
        steps.append(y[::-1] if is_reverse else y)
    inputs = {"x": x, "w": weights["W"][0], "r": weights["R"][0], "b": bias, "lengths": None,
              "h": h, "c": c, "p": peepholes, "w_scale": weights["W"][1],
              "w_zero": weights["W"][2], "r_scale": weights["R"][1], "r_zero": weights["R"][2]}
    return Case(inputs, [_float(np.stack(steps, 1)), _float(last_h), _float(last_c)],
                {"direction": direction, "hidden_size": hidden},
                ("w", "r", "b", "p", "w_scale", "w_zero", "r_scale", "r_zero"))


@operator("CausalConvWithState")
def _causal_conv(draw):
    batch, channels, length = draw.number(1, 3), draw.number(1, 5), draw.number(1, 7)
    size, dilation = draw.number(1, 4), draw.choice(1, 1, 2)
    before = (size - 1) * dilation
    activation = draw.choice("none", "silu", "swish")
    is_last = draw.flag()
    # ONNX Runtime supports further axes nowhere.
    axes = 1 if is_last else draw.choice(1, 1, 2, 3)
    others = tuple(draw.number(1, 4) for _ in range(axes - 1))
    kernel = tuple(draw.choice(1, 3, 5) for _ in others)
    x = draw.reals(batch, channels, *others, length)
    w = draw.reals(channels, 1, *kernel, size)
    bias = draw.reals(channels) if draw.flag() else None
    window = draw.choice(0, 0, 0, 3)  # ONNX Runtime supports windows on GPUs only
    slots = (window,) if window else ()
    state = draw.reals(*slots, batch, channels, *others, before) if draw.flag() else None
    zeros = np.zeros((batch, channels, *others, before))
    first = zeros if state is None else state[-1] if window else state
    padded = np.concatenate([first, x], -1)
    y = _centred_convolution(padded, w, dilation, x.shape)
    y = y if bias is None else y + bias.reshape(-1, *[1] * axes)
    y = y if activation == "none" else y * sigmoid(y)
    attributes = {"activation": activation, "ndim": axes, "state_window": window}
    if dilation > 1:
        attributes["dilation"] = dilation
    if is_last:
        attributes["channels_last"] = 1
    states = [padded[..., length - later:length - later + before] if later < length else zeros
              for later in range(window or 1)][::-1]
    in_order = lambda value: np.ascontiguousarray(value.swapaxes(-1, -2) if is_last else value)
    results = [in_order(_float(y)), in_order(_float(np.stack(states) if window else states[0]))]
    return Case({"x": in_order(x), "w": w, "bias": bias,
                 "state": state if state is None else in_order(state)}, results, attributes, ("w",))


def _centred_convolution(padded, w, dilation, shape):
    """Taps are centred on all axes but the last one."""
    pads = [(0, 0), (0, 0), *((size // 2, size // 2) for size in w.shape[2:-1]), (0, 0)]
    padded, y = np.pad(padded, pads), 0
    for tap in np.ndindex(w.shape[2:]):
        starts = [0, 0, *tap[:-1], tap[-1] * dilation]
        part = padded[tuple(slice(start, start + size) for start, size in zip(starts, shape))]
        y = y + part * w[(slice(None), 0, *tap)].reshape(-1, *[1] * len(tap))
    return y


@operator("LinearAttention")
def _linear_attention(draw):
    batch, tokens, size, value_size = (draw.number(1, 4) for _ in range(4))
    least, group = draw.number(1, 3), draw.number(1, 2)
    heads, kv_heads = (least * group, least) if draw.flag() else (least, least * group)
    key_heads = draw.choice(least, kv_heads)
    all_heads = max(heads, kv_heads)
    rule = draw.choice("linear", "gated", "delta", "gated_delta")
    window = draw.choice(0, 0, 0, 3)  # ONNX Runtime supports windows on GPUs only
    q, k = draw.reals(batch, tokens, heads, size), 0.3 * draw.reals(batch, tokens, key_heads, size)
    v = draw.reals(batch, tokens, kv_heads, value_size)
    slots = (window,) if window else ()
    state = draw.reals(*slots, batch, kv_heads, size, value_size) if draw.flag() else None
    decay = beta = None
    if "gated" in rule:
        decay = -np.abs(draw.reals(batch, tokens, kv_heads, draw.choice(1, size)))
    if "delta" in rule:
        beta = sigmoid(draw.reals(batch, tokens, draw.choice(1, kv_heads), 1)).astype(np.float32)
    scale = draw.choice(None, 0.5)
    zeros = np.zeros((batch, kv_heads, size, value_size))
    s = zeros if state is None else (state[-1] if window else state).astype(np.float64)
    keys, queries = np.repeat(k, kv_heads // key_heads, 2), np.repeat(q, all_heads // heads, 2)
    results, states = [], [zeros] * window
    for t in range(tokens):
        key, value = keys[:, t, :, :, None], v[:, t, :, None, :]
        s = s if decay is None else s * np.exp(decay[:, t, :, :, None])
        if beta is not None:
            value = beta[:, t, :, :, None] * (value - (key * s).sum(2, keepdims=True))
        s = s + key * value
        states.append(s)
        now = queries[:, t].reshape(batch, kv_heads, -1, size)
        results.append((scale or 1 / np.sqrt(size)) * (now @ s))
    y = np.stack(results, 1).reshape(batch, tokens, all_heads * value_size)
    flat = lambda x: None if x is None else np.ascontiguousarray(x.reshape(batch, tokens, -1))
    attributes = {"q_num_heads": heads, "kv_num_heads": kv_heads, "update_rule": rule,
                  "state_window": window}
    if scale:
        attributes["scale"] = scale
    return Case({"q": flat(q), "k": _float(flat(k)), "v": flat(v), "state": state,
                 "decay": flat(decay), "beta": flat(beta)},
                [_float(y), _float(np.stack(states[-window:]) if window else s)], attributes)
