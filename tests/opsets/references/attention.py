"""Cases of Attention: layouts, groups of heads, masks, caches, windows and element types."""
import numpy as np

from case_file import case, cases, integers, reals


def _heads(x, heads):
    """[batch, rows, heads * size] -> [batch, heads, rows, size]; rank 4 is unchanged."""
    if x.ndim == 4:
        return x
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def _bias(shape, mask, offset, causal, left, right, lengths):
    """What is added to the scores: 0 or the mask, and -inf for masked pairs."""
    bias = np.zeros(shape)
    if mask is not None:
        missing = [(0, 0)] * (mask.ndim - 1) + [(0, shape[-1] - mask.shape[-1])]
        mask = np.where(mask, 0, -np.inf) if mask.dtype == bool else mask.astype(np.float64)
        bias = bias + np.pad(mask, missing, constant_values=-np.inf)
    position = np.reshape(offset, (-1, 1, 1, 1)) + np.arange(shape[2])[:, None]
    key = np.arange(shape[3])
    right = 0 if causal else right
    masked = np.zeros(shape, bool)
    if right >= 0:
        masked = masked | (key > position + right)
    if left >= 0:
        masked = masked | (key < position - left)
    if lengths is not None:
        masked = masked | (key >= lengths.reshape(-1, 1, 1, 1))
    return np.where(masked, -np.inf, bias)


def _stored(x, dtype):
    """The stored result of type `dtype`. float64 keeps 32 bits of each significand: the others depend
    on the vector extensions of the CPU."""
    if dtype == np.float64:
        significand, exponent = np.frexp(x)
        x = np.ldexp(np.rint(significand * 2.0**32), exponent - 32)
    return x.astype(dtype)


def _attention(q, k, v, mask=None, past=None, lengths=None, heads=0, kv_heads=0, causal=0, scale=None,
               softcap=0, left=-1, right=-1):
    """Returns the result, the present keys and values, and the scores of each mode."""
    q, k, v = _heads(q, heads), _heads(k, kv_heads), _heads(v, kv_heads)
    rank = 3 if heads else 4
    offset = 0
    if past is not None:
        k, v = (np.concatenate(pair, 2) for pair in zip(past, (k, v)))
        offset = past[0].shape[2]
    elif lengths is not None:
        offset = lengths - q.shape[2]
    group = q.shape[1] // k.shape[1]
    wide = [np.repeat(x.astype(np.float64), group, 1) for x in (k, v)]
    scale = scale if scale is not None else 1 / np.sqrt(q.shape[3])
    stages = [scale * q.astype(np.float64) @ wide[0].swapaxes(2, 3)]
    stages.append(softcap * np.tanh(stages[0] / softcap) if softcap else stages[0])
    bias = _bias(stages[0].shape, mask, offset, causal, left, right, lengths)
    stages.append(stages[1] + bias)
    greatest = stages[2].max(-1, keepdims=True)
    is_empty = np.isneginf(bias).all(-1, keepdims=True)
    e = np.exp(stages[2] - np.where(is_empty, 0, greatest))
    stages.append(np.where(is_empty, 0, e / np.where(is_empty, 1, e.sum(-1, keepdims=True))))
    y = stages[3] @ wide[1]
    if rank == 3:
        y = y.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)
    return _stored(y, q.dtype), k, v, [_stored(stage, q.dtype) for stage in stages]


def _operands(name, batch, heads, kv_heads, rows, keys, size, value_size, rank=4, dtype=np.float32):
    shapes = {"q": (heads, rows, size), "k": (kv_heads, keys, size), "v": (kv_heads, keys, value_size)}
    operands = {}
    for key, (count, length, depth) in shapes.items():
        x = reals(name + key, batch, count, length, depth).astype(dtype)
        if rank == 3:
            x = x.transpose(0, 2, 1, 3).reshape(batch, length, -1)
        operands[key] = np.ascontiguousarray(x)
    return operands


def _layouts():
    for group in (1, 3):
        for rank in (3, 4):
            x = _operands("layout", 2, 2 * group, 2, 5, 7, 8, 6, rank)
            heads = {"q_num_heads": 2 * group, "kv_num_heads": 2} if rank == 3 else {}
            given = {"heads": 2 * group, "kv_heads": 2} if rank == 3 else {}
            for causal in (0, 1):
                y = _attention(**x, **given, causal=causal)[0]
                cases(f"attention_{rank}d_group{group}_causal{causal}", 23, "Attention", x, [y],
                      is_causal=causal, keep_last=True, **heads)
    for dtype in (np.float16, np.float64):
        x = _operands("types", 1, 4, 2, 3, 6, 8, 8, dtype=dtype)
        case(f"attention_{np.dtype(dtype).name}", 24, "Attention", x, [_attention(**x, softcap=2)[0]],
             softcap=2.0, softmax_precision=11)
    x = _operands("mixed", 1, 2, 2, 3, 6, 8, 8)
    x["v"] = x["v"].astype(np.float16)
    case("attention_mixed_types", 23, "Attention", x, [_attention(**x)[0]])
    # The size of the heads is a symbol, and so is the default scale.
    x = _operands("dims", 2, 2, 2, 3, 4, 5, 6)
    case("attention_all_dims_dynamic", 23, "Attention", x, [_attention(**x)[0]], dynamic=True)


def _masks():
    x = _operands("mask", 2, 4, 2, 3, 6, 8, 5)
    shapes = {"1": (6,), "2": (3, 6), "3": (4, 3, 6), "heads": (2, 4, 1, 6), "batch": (2, 1, 3, 6),
              "row": (1, 1, 1, 6), "short": (2, 1, 3, 4)}
    for name, shape in shapes.items():
        for is_bool in (False, True):
            mask = reals("mask" + name, *shape)
            mask = mask > -0.5 if is_bool else mask
            y = _attention(**x, mask=mask, causal=int(is_bool))[0]
            cases(f"attention_mask_{name}_{'bool' if is_bool else 'number'}", 24, "Attention",
                  {**x, "mask": mask}, [y], is_causal=int(is_bool), keep_last=True)
    mask = np.array([[0, 1, 2, 3, 0, -4]], np.int64)
    case("attention_mask_of_integers", 23, "Attention", {**x, "mask": mask},
         [_attention(**x, mask=mask)[0]])
    # Rows whose keys are all masked, in the result and in the probabilities.
    mask = np.ones((3, 6), bool)
    mask[1] = False
    case("attention_empty_row", 24, "Attention", {**x, "mask": mask}, [_attention(**x, mask=mask)[0]])
    y, k, v, stages = _attention(**x, mask=mask, softcap=1.5)
    for mode, stage in enumerate(stages):
        case(f"attention_stage{mode}", 24, "Attention", {**x, "mask": mask}, [y, k, v, stage],
             qk_matmul_output_mode=mode, softcap=1.5)
    mask = np.where(mask, np.float32(0), np.float32(-np.inf))
    case("attention_empty_row_of_numbers", 24, "Attention", {**x, "mask": mask},
         [_attention(**x, mask=mask)[0]])


def _caches():
    x = _operands("cache", 2, 4, 2, 3, 2, 8, 5)
    past = {"past_k": reals("past_k", 2, 2, 4, 8), "past_v": reals("past_v", 2, 2, 4, 5)}
    order = ["q", "k", "v", "", "past_k", "past_v"]
    for opset, window in ((23, {}), (25, {"left_window_size": 2}), (25, {"right_window_size": 1})):
        given = {key.split("_")[0]: size for key, size in window.items()}
        y, k, v, _ = _attention(**x, past=tuple(past.values()), causal="right" not in given, **given)
        cases("attention_past" + "".join("_" + key for key in given), opset, "Attention",
              {**x, **past}, [y, k, v], order=order, is_causal=int("right" not in given),
              keep_last=True, **window)
    # Row 1 of the second batch element has no past: its first rows have negative positions.
    x = _operands("lengths", 2, 4, 2, 3, 6, 8, 5)
    lengths = np.array([5, 2])
    order = ["q", "k", "v", "", "", "", "lengths"]
    for opset, causal, window in ((24, 0, {}), (24, 1, {}), (25, 1, {"left_window_size": 1}),
                                  (27, 0, {"left_window_size": 1, "right_window_size": 2})):
        given = {key.split("_")[0]: size for key, size in window.items()}
        y = _attention(**x, lengths=lengths, causal=causal, **given)[0]
        name = "".join("_" + key for key in given)
        cases(f"attention_lengths_causal{causal}{name}", opset, "Attention",
              {**x, "lengths": lengths}, [y], order=order, is_causal=causal, keep_last=True, **window)
    mask = integers("length_mask", 0, 2, 2, 1, 3, 6).astype(bool)
    y = _attention(**x, mask=mask, lengths=lengths, causal=1, scale=0.3)[0]
    cases("attention_lengths_mask", 24, "Attention", {**x, "mask": mask, "lengths": lengths}, [y],
          order=["q", "k", "v", "mask", "", "", "lengths"], is_causal=1, scale=0.3, keep_last=True)


def write_cases():
    _layouts()
    _masks()
    _caches()
