"""Cases of GroupQueryAttention."""
import dataclasses

import numpy as np

from operators import Case, operator, special
from .attention import merge, scores_of, softmax
from .rotary import rotate


@dataclasses.dataclass
class _Lengths:
    """The numbers of keys of each sequence: all, the earlier ones, and those in the past inputs.
    `rows` keys are new. The past inputs have `capacity` keys, the present ones `keys`."""
    rows: int
    all: np.ndarray
    earlier: np.ndarray
    before: np.ndarray
    capacity: int
    keys: int
    kept: np.ndarray  # in the present outputs
    window: int = 0  # of a windowed cache
    total: int = 0  # the input total_sequence_length

    def __post_init__(self):
        self.total = self.total or int(self.all.max())


def _lengths(draw, is_equal):
    is_first = draw.flag()
    batch = draw.number(1, 3)
    rows = draw.number(1, 5) if is_first or batch == 1 else 1
    earlier = np.zeros(batch, int) if is_first else draw.integers(1, 6, batch)
    if is_equal:
        earlier = np.full(batch, earlier[0])
    total = int(earlier.max()) + rows
    # In a first call, the keys of the past are not used.
    capacity = 0 if is_first and draw.flag() else int(earlier.max()) + draw.number(0, 2)
    return _Lengths(rows, earlier + rows, earlier, earlier, capacity, max(total, capacity),
                    earlier + rows)


def _padded(draw):
    """A first call with sequences that are shorter than the number of rows."""
    batch, rows = draw.number(1, 3), draw.number(2, 6)
    capacity, none = draw.choice(0, rows + draw.number(0, 2)), np.zeros(batch, int)
    return _Lengths(rows, draw.integers(1, rows + 1, batch), none, none, capacity,
                    max(rows, capacity), np.full(batch, rows), total=rows)


def _resident(count, capacity, block):
    return count - block * max(0, -(-(count - capacity) // block))


def _windowed(draw, is_full):
    """With a windowed cache. ONNX Runtime does not initialise the unused keys of the present."""
    batch = draw.number(1, 3)
    window = draw.number(1, 4)
    capacity = window + draw.number(0, 3)
    block = capacity - window + 1
    rows = draw.number(1, 6) if batch == 1 else 1
    more = draw.integers(0, 3, batch) * block if is_full else draw.integers(-2, 9, batch)
    total = np.maximum(capacity + more, 1)
    rows = min(rows, int(total.min()))
    resident = lambda counts: np.array([_resident(int(count), capacity, block) for count in counts])
    return _Lengths(rows, total, total - rows, resident(total - rows), capacity, capacity,
                    resident(total), window)


@dataclasses.dataclass
class _Format:
    """The form in which a cache stores numbers: `bits` is 0 if they are not quantised."""
    bits: int = 0
    scale: np.ndarray = None

    def store(self, x):
        if not self.bits:
            return x
        least = -(1 << (self.bits - 1))
        q = np.clip(np.rint(x / self.scale), least, -least - 1).astype(np.int8)
        if self.bits == 8:
            return q
        q = (q + 8).astype(np.uint8)
        return q[..., 0::2] + 16 * q[..., 1::2]

    def restore(self, x):
        if self.bits == 4:
            x = np.stack([x % 16, x // 16], -1).reshape(*x.shape[:-1], -1) - np.float32(8)
        return x * self.scale if self.bits else x

    def past(self, draw, *shape):
        if not self.bits:
            return draw.reals(*shape)
        half = shape[-1] // 2
        return draw.bytes(*shape[:-1], half) if self.bits == 4 else draw.bytes(
            *shape, dtype=np.int8)


def _formats(draw, attributes, kv_heads, size):
    bits = draw.choice(0, 0, 4, 8)
    if not bits:
        return _Format(), _Format()
    kind = draw.choice("PER_TENSOR", "PER_CHANNEL")
    attributes.update(k_quant_type=kind, v_quant_type=kind, kv_cache_bit_width=bits)
    shape = (1,) if kind == "PER_TENSOR" else (1, kv_heads, 1, size)
    most = 0.02 if bits == 8 else 0.3
    return tuple(_Format(bits, draw.reals(*shape, low=most / 2, high=most)) for _ in range(2))


def _cache(form, lengths, past, new):
    """The keys that attention reads, and the present output."""
    new = form.store(new)
    count = lengths.keys + (lengths.rows if lengths.window else 0)
    staged = np.zeros((*new.shape[:2], count, new.shape[3]), new.dtype)
    present = np.zeros((*new.shape[:2], lengths.keys, new.shape[3]), new.dtype)
    for b, before in enumerate(lengths.before):
        end = before + lengths.rows
        if past is not None:
            staged[b, :, :before] = past[b, :, :before]
        staged[b, :, before:end] = new[b]
        kept = lengths.kept[b]
        present[b, :, :kept] = staged[b, :, end - kept:end]
    return form.restore(staged), present


def _norm(x, weight, epsilon):
    x = x.astype(np.float64)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight
    return x.astype(np.float32)


def _columns(bias, lengths, count):
    """The columns of the bias for the keys that attention reads."""
    first = lengths.earlier - lengths.before
    at = np.minimum(first[:, None] + np.arange(count), bias.shape[3] - 1)
    bias = np.broadcast_to(bias, (len(first), *bias.shape[1:]))
    return np.take_along_axis(bias, at[:, None, None], 3)


@operator("GroupQueryAttention")
def _group_query_attention(draw, is_padded=False):
    is_windowed, has_norms = draw.number(0, 3) == 0 and not is_padded, draw.number(0, 5) == 0
    # ONNX Runtime does not initialise the scores after the end of a sequence.
    qk_output = 0 if is_windowed or is_padded else draw.choice(0, 0, 1, 2)
    kv_heads, size = draw.choice(1, 2), 32 if is_windowed else draw.choice(8, 16)
    heads = kv_heads * draw.choice(1, 2, 3)
    lengths = (_padded(draw) if is_padded else
               _windowed(draw, not has_norms) if is_windowed else
               _lengths(draw, qk_output and not has_norms))
    batch, rows, total = len(lengths.all), lengths.rows, lengths.total
    attributes = {"num_heads": heads, "kv_num_heads": kv_heads}
    formats = _formats(draw, attributes, kv_heads, size)
    q, k, v = (draw.reals(batch, count, rows, size) for count in (heads, kv_heads, kv_heads))
    past = [form.past(draw, batch, kv_heads, lengths.capacity, size) if lengths.capacity else None
            for form in formats]
    inputs = {"q": merge(q), "k": merge(k), "v": merge(v)}
    if draw.flag():
        inputs = {"q": np.concatenate(list(inputs.values()), 2), "k": None, "v": None}
    inputs.update(past_k=past[0], past_v=past[1], lengths=(lengths.all - 1).astype(np.int32),
                  total=np.array([total], np.int32), cosines=None, sines=None, positions=None,
                  bias=None, sinks=None, k_scale=formats[0].scale, v_scale=formats[1].scale,
                  q_norm=None, k_norm=None)
    q, k = _before_attention(draw, attributes, inputs, lengths, q, k, has_norms)
    k, present_k = _cache(formats[0], lengths, past[0], k)
    v, present_v = _cache(formats[1], lengths, past[1], v)
    y, scores = _attention(draw, attributes, inputs, lengths, q, k, v)
    results = [np.asarray(merge(y), np.float32), present_k, present_v]
    if qk_output:
        attributes["qk_output"] = qk_output
        results.append(np.asarray(scores[qk_output - 1][..., :total], np.float32))
    return Case(inputs, results, attributes,
                ("cosines", "sines", "k_scale", "v_scale", "q_norm", "k_norm"),
                ("k", "v", "past_k", "past_v", "lengths", "total", "bias"))


@special("padded", "GroupQueryAttention")
def _padded_prompt(draw):
    return _group_query_attention(draw, is_padded=True)


def _before_attention(draw, attributes, inputs, lengths, q, k, has_norms):
    """Queries and keys after the norms and the rotation."""
    size = q.shape[3]
    if has_norms:
        inputs["q_norm"], inputs["k_norm"] = (draw.reals(size, low=0.5) for _ in range(2))
        attributes["qk_norm_epsilon"] = epsilon = draw.choice(1e-6, 0.1)
        q, k = _norm(q, inputs["q_norm"], epsilon), _norm(k, inputs["k_norm"], epsilon)
    if size >= 16 and draw.flag():
        angles = draw.reals(32, draw.choice(8, 8), low=-3, high=3)
        inputs["cosines"], inputs["sines"] = np.cos(angles), np.sin(angles)
        attributes.update(do_rotary=1, rotary_interleaved=draw.number(0, 1))
        positions = lengths.earlier[:, None] + np.arange(lengths.rows)
        table = [inputs[name][positions] for name in ("cosines", "sines")]
        q, k = (rotate(x, *table, attributes["rotary_interleaved"]) for x in (q, k))
    return q, k


def _allowed_keys(lengths, keys, window, limits_positions):
    """Whether a row attends to a key: [batch, 1, rows, keys]. Padding rows follow the last key, or
    have its position, which depends on the algorithm that ONNX Runtime chooses."""
    key, position = np.arange(keys), lengths.before[:, None] + np.arange(lengths.rows)
    last = position if lengths.window else np.minimum(position, lengths.all[:, None] - 1)
    if limits_positions:
        position = last
    position, last = position[:, None, :, None], last[:, None, :, None]
    return (key <= last) & (key > position - window if window else True)


def _attention(draw, attributes, inputs, lengths, q, k, v):
    """The result, and the scores before and after the softmax."""
    batch, heads, rows, keys = *q.shape[:3], k.shape[2]
    window = lengths.window or (draw.number(1, 4) if draw.flag() else 0)
    if window:
        attributes["local_window_size"] = window
    if lengths.window:
        attributes["sliding_window_cache"] = 1
    if draw.flag():
        attributes["softcap"] = 2.0
    if draw.flag():
        attributes["scale"] = 0.4
    bias, sinks = 0.0, None
    if draw.number(0, 3) == 0:
        inputs["bias"] = draw.reals(draw.choice(1, batch), draw.choice(1, heads), rows,
                                    lengths.total)
        bias = _columns(inputs["bias"], lengths, keys)
    kind = draw.choice("none", "none", "smooth", "sinks")
    if kind == "smooth":
        attributes["smooth_softmax"], sinks = 1, np.zeros(heads)
    elif kind == "sinks":
        inputs["sinks"] = sinks = draw.reals(heads)
    allowed = _allowed_keys(lengths, keys, window,
                            sinks is not None or "softcap" in attributes)
    scores = scores_of(q, k, bias, attributes.get("scale"), attributes.get("softcap", 0))
    weights = softmax(np.where(allowed, scores, -1e30), sinks)
    weights = np.where(allowed.any(3, keepdims=True), weights, 0)
    v = np.repeat(v.astype(np.float64), heads // v.shape[1], 1)
    return weights @ v, (np.where(allowed, scores, 0), weights)
