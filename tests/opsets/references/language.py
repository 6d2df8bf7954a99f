"""Cases of the other ops of language models: normalisation, rotary embeddings, caches, gates, linear
attention and causal convolutions."""
import numpy as np

from case_file import case, cases, integers, reals


def _sigmoid(x):
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def _rms_norms():
    for axis in (-1, 1, 0):
        x = reals("rms", 2, 3, 4)
        scale = reals("rms_scale", *x.shape[axis:])
        axes = tuple(range(axis % 3, 3))
        wide = x.astype(np.float64)
        y = wide / np.sqrt((wide ** 2).mean(axes, keepdims=True) + 1e-3) * scale
        cases(f"rms_norm_axis{axis % 3}", 23, "RMSNormalization", {"x": x, "scale": scale},
              [y.astype(np.float32)], axis=axis, epsilon=1e-3)
    half = x.astype(np.float16)
    wide = half.astype(np.float32)
    y = (wide / np.sqrt((wide ** 2).mean(-1, keepdims=True) + 1e-5)).astype(np.float16)
    scale = reals("rms_scale", 4)
    case("rms_norm_of_halves", 23, "RMSNormalization", {"x": half, "scale": scale},
         [y.astype(np.float32) * scale])
    wide = x.astype(np.float64)
    y = wide / np.sqrt((wide ** 2).mean(-1, keepdims=True) + 1e-5)
    case("rms_norm_f64_stash", 23, "RMSNormalization",
         {"x": wide, "scale": scale.astype(np.float64)}, [y * scale], stash_type=11)


def _rotated(x, cos, sin, size, interleaved):
    """x: [batch, heads, rows, channels]; cos, sin: [batch, rows, size / 2]."""
    y = x.astype(np.float64)
    cos, sin = cos[:, None], sin[:, None]
    first = slice(0, size, 2) if interleaved else slice(0, size // 2)
    second = slice(1, size, 2) if interleaved else slice(size // 2, size)
    a, b = y[..., first].copy(), y[..., second].copy()
    y[..., first], y[..., second] = a * cos - b * sin, a * sin + b * cos
    return y.astype(x.dtype)


def _rotary_embeddings():
    positions = integers("rotary_positions", 0, 9, 2, 3)
    for interleaved in (0, 1):
        for size in (0, 4):
            x = reals("rotary", 2, 5, 3, 8)
            angles = reals("angles", 9, (size or 8) // 2)
            caches = {"cos": np.cos(angles), "sin": np.sin(angles)}
            taken = [cache[positions] for cache in caches.values()]
            y = _rotated(x, *taken, size or 8, interleaved)
            attributes = {"interleaved": interleaved, "rotary_embedding_dim": size}
            name = f"rotary_{'pairs' if interleaved else 'halves'}_{size}"
            cases(name, 23, "RotaryEmbedding", {"x": x, **caches, "positions": positions}, [y],
                  keep_last=True, **attributes)
            flat = [value.transpose(0, 2, 1, 3).reshape(2, 3, 40) for value in (x, y)]
            cases(name + "_3d", 23, "RotaryEmbedding", {"x": flat[0], "cos": taken[0],
                                                      "sin": taken[1]}, [flat[1]],
                  num_heads=5, keep_last=True, **attributes)


def _gates():
    x, gate = reals("swish", 3, 5), reals("swish_gate", 3, 5)
    for alpha in (1.0, 0.5):
        y = x * _sigmoid(alpha * x)
        cases(f"swish_{alpha}", 24, "Swish", {"x": x}, [y.astype(np.float32)], alpha=alpha)
    half = x.astype(np.float16)
    case("swish_of_halves", 24, "Swish", {"x": half}, [(half * _sigmoid(half)).astype(np.float16)])


def _tensor_scatters():
    for axis, shape in ((-2, (2, 3, 6, 2)), (1, (2, 6, 3, 2)), (-1, (2, 3, 6))):
        cache = reals("cache", *shape)
        size = list(shape)
        size[axis] = 3
        update = reals("update", *size)
        for mode, first in (("linear", [1, 3]), ("circular", [5, 2])):
            y = cache.copy()
            for batch, row in np.ndindex(2, 3):
                at, source = [batch] + [slice(None)] * (len(shape) - 1), [batch] + [slice(None)] * (
                    len(shape) - 1)
                at[axis], source[axis] = (first[batch] + row) % 6, row
                y[tuple(at)] = update[tuple(source)]
            cases(f"tensor_scatter_{mode}_axis{axis}", 24, "TensorScatter",
                  {"cache": cache, "update": update, "first": np.array(first)}, [y], axis=axis,
                  mode=mode)
    cache, update = reals("cache", 2, 4, 3), reals("update", 2, 2, 3)
    cases("tensor_scatter_from_start", 24, "TensorScatter", {"cache": cache, "update": update},
          [np.concatenate([update, cache[:, 2:]], 1)])


def _linear_attention(q, k, v, state, decay, beta, heads, kv_heads, scale):
    batch, tokens, _ = q.shape
    split = [x.reshape(batch, tokens, count, -1).astype(np.float64)
             for x, count in ((q, heads), (k, kv_heads), (v, kv_heads))]
    state = state.astype(np.float64)
    y = np.zeros((batch, tokens, heads, split[2].shape[-1]))
    for b, t, h in np.ndindex(batch, tokens, heads):
        if h % (heads // kv_heads):
            continue  # the state is updated once for the heads of a group
        group = h // (heads // kv_heads)
        s = state[b, group]
        if decay is not None:
            s = s * np.exp(decay[b, t].reshape(kv_heads, -1)[group])[:, None]
        key, value = split[1][b, t, group], split[2][b, t, group]
        if beta is not None:
            value = beta[b, t][group % beta.shape[2]] * (value - s.T @ key)
        s = s + np.outer(key, value)
        state[b, group] = s
        for query in range(h, h + heads // kv_heads):
            y[b, t, query] = scale * s.T @ split[0][b, t, query]
    return y.reshape(batch, tokens, -1).astype(q.dtype), state


def _linear_attentions():
    heads, kv_heads, size, value_size = 4, 2, 3, 5
    attributes = {"q_num_heads": heads, "kv_num_heads": kv_heads}
    for rule in ("linear", "gated", "delta", "gated_delta"):
        for tokens in (1, 4):
            inputs = {"q": reals("q", 2, tokens, heads * size),
                      "k": reals("k", 2, tokens, kv_heads * size) * 0.3,
                      "v": reals("v", 2, tokens, kv_heads * value_size)}
            state = reals("state", 2, kv_heads, size, value_size)
            decay = beta = None
            order = ["q", "k", "v", "state"]
            inputs["state"] = state
            if "gated" in rule:
                decay = -np.abs(reals("decay", 2, tokens, kv_heads * (size if tokens > 1 else 1)))
                inputs["decay"] = decay
            if "delta" in rule:
                beta = _sigmoid(reals("beta", 2, tokens, 1 if tokens > 1 else kv_heads))
                inputs["beta"] = beta = beta.astype(np.float32)
            order += ["decay" if decay is not None else "", "beta" if beta is not None else ""]
            y, present = _linear_attention(*[inputs[key] for key in "qkv"], state, decay, beta,
                                           heads, kv_heads, 1 / np.sqrt(size))
            cases(f"linear_attention_{rule}_{tokens}", 27, "LinearAttention", inputs,
                  [y, present.astype(np.float32)], order=order, update_rule=rule, keep_last=True,
                  **attributes)
    # All dims are symbols, also that of beta, which is 1.
    case("linear_attention_shared_beta", 27, "LinearAttention", inputs,
         [y, present.astype(np.float32)], order=order, update_rule=rule, dynamic=True, **attributes)
    halves = {key: inputs[key].astype(np.float16) for key in "qkv"}
    y, present = _linear_attention(*halves.values(), np.zeros((2, kv_heads, size, value_size)), None,
                                   None, heads, kv_heads, 0.5)
    case("linear_attention_of_halves", 27, "LinearAttention", halves,
         [y, present.astype(np.float16)], update_rule="linear", scale=0.5, chunk_size=64,
         **attributes)


def _causal_convs():
    for size, length in ((4, 6), (4, 2), (1, 3)):
        x, w = reals("causal", 2, 3, length), reals("taps", 3, 1, size)
        bias, state = reals("causal_bias", 3), reals("causal_state", 2, 3, size - 1)
        for activation in ("none", "silu", "swish"):
            has_state = activation != "none"
            before = state if has_state else np.zeros_like(state)
            padded = np.concatenate([before, x], 2)
            y = sum(padded[:, :, tap:tap + length].astype(np.float64) * w[:, :, tap]
                    for tap in range(size))
            y = y + bias[:, None] if has_state else y
            y = y if activation == "none" else y * _sigmoid(y)
            inputs = {"x": x, "w": w}
            if has_state:
                inputs |= {"bias": bias, "state": state}
            case(f"causal_conv_{size}_{length}_{activation}", 27, "CausalConvWithState", inputs,
                 [y.astype(np.float32), padded[:, :, length:]], activation=activation)
    # The size of the kernel is known, the other dims are symbols.
    constants = {"w": w}
    del inputs["w"]
    case("causal_conv_dynamic", 27, "CausalConvWithState", inputs,
         [y.astype(np.float32), padded[:, :, length:]], constants=constants,
         order=["x", "w", "bias", "state"], activation="swish", dynamic=True)


def write_cases():
    _rms_norms()
    _rotary_embeddings()
    _gates()
    _tensor_scatters()
    _linear_attentions()
    _causal_convs()
