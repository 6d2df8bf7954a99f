"""Cases of MaxRoiPool, and valid nodes of the standard operators that are new in opsets 23 to 27,
of those on characters, and of ai.onnx.preview.

check_errors.py changes the nodes. Their results are compared in tests/opsets and with ONNX's cases.
"""
import numpy as np

import onnx_file
from operators import Case, Operator, operator

_PREVIEW = "ai.onnx.preview"
_INT4, _INT2, _FLOAT8 = 22, 26, 17  # TensorProto.DataType
_nodes = []


def _add(name, version, inputs, results=1, constants=(), domain="", **attributes):
    case = Case(inputs, [0] * results, attributes, constants)
    _nodes.append(Operator(name, domain, version, lambda draw: case))


def _reals(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def modifier(count=1, operand="x", op="Tanh"):
    """A graph for FlexAttention, with this number of outputs."""
    outputs = [f"y{i}" for i in range(count)]
    changes = [onnx_file.node(op, [operand], [output]) for output in outputs]
    return onnx_file.graph(changes, "change", [onnx_file.value_info("x", 1, [1, 2, 3, 4])],
                           [onnx_file.value_info(output) for output in outputs])


def _bins(first, last, count, size):
    """The ends of the bins of a region along an axis."""
    ends = np.arange(count + 1, dtype=np.float32) * np.float32(max(last - first + 1, 1) / count)
    starts, stops = np.floor(ends[:-1]), np.ceil(ends[1:])
    return np.clip(np.stack([starts, stops], 1).astype(int) + first, 0, size)


@operator("MaxRoiPool", "")
def _max_roi_pool(draw):
    x = draw.reals(draw.number(1, 3), draw.number(1, 3), draw.number(4, 9), draw.number(4, 9))
    count, scale, shape = draw.number(1, 4), draw.choice(1.0, 0.5, 0.25), x.shape[2:]
    pooled = [draw.number(1, 4), draw.number(1, 4)]
    corners = draw.integers(-2, int(max(shape) / scale) + 3, count, 4)
    rois = np.column_stack([draw.integers(0, x.shape[0], count), corners]).astype(np.float32)
    y = np.zeros((count, x.shape[1], *pooled), np.float32)
    for region, (batch, *edges) in enumerate(rois):
        edges = [int(np.sign(edge) * np.floor(abs(edge) * scale + 0.5)) for edge in edges]
        for i, rows in enumerate(_bins(edges[1], edges[3], pooled[0], shape[0])):
            for j, columns in enumerate(_bins(edges[0], edges[2], pooled[1], shape[1])):
                part = x[int(batch), :, slice(*rows), slice(*columns)]
                if part.size:
                    y[region, :, i, j] = part.max((1, 2))
    return Case({"x": x, "rois": rois}, [y], {"pooled_shape": pooled, "spatial_scale": scale})


def _attentions():
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    rows = {"q": _reals(1, 3, 8), "k": _reals(1, 4, 8), "v": _reals(1, 4, 8)}
    images = {"q": _reals(1, 4, 3, 8), "k": _reals(1, 2, 4, 8), "v": _reals(1, 2, 4, 6)}
    past = {"past_k": _reals(1, 2, 2, 4), "past_v": _reals(1, 2, 2, 4)}
    common = {"is_causal": 1, "scale": 0.5, "softcap": 2.0, "softmax_precision": 1,
              "qk_matmul_output_mode": 2}
    window = {"left_window_size": 2, "right_window_size": 1}
    for version in (23, 24, 25):
        windows = window if version == 25 else {}
        _add("Attention", version, {**rows, "mask": _reals(3, 6), **past}, 4, **common, **heads,
             **windows)
        if version > 23:
            _add("Attention", version, {**images, "mask": np.ones((3, 4), bool), "past_k": None,
                                        "past_v": None, "lengths": np.array([4])}, **windows)
    _add("FlexAttention", 1, images, domain=_PREVIEW, scale=0.5, softmax_precision=1,
         score_mod=modifier(), prob_mod=modifier(op="Relu"))
    _add("LinearAttention", 27, {"q": _reals(1, 3, 8), "k": _reals(1, 3, 8), "v": _reals(1, 3, 4),
                                 "state": _reals(1, 2, 4, 2), "decay": -_reals(1, 3, 2) ** 2,
                                 "beta": _reals(1, 3, 2)}, 2, **heads, update_rule="gated_delta",
         scale=0.5, chunk_size=16)


def _language():
    _add("RMSNormalization", 23, {"x": _reals(2, 3, 4), "scale": _reals(4)}, axis=-1, epsilon=1e-3,
         stash_type=1)
    caches = {"cos": _reals(5, 2), "sin": _reals(5, 2)}
    _add("RotaryEmbedding", 23, {"x": _reals(1, 2, 3, 4), **caches, "ids": np.array([[0, 1, 4]])},
         interleaved=1, rotary_embedding_dim=4, num_heads=2)
    rows = {"cos": _reals(1, 3, 2), "sin": _reals(1, 3, 2)}
    _add("RotaryEmbedding", 23, {"x": _reals(1, 3, 8), **rows}, num_heads=2)
    _add("TensorScatter", 24, {"cache": _reals(2, 4, 3), "update": _reals(2, 2, 3),
                               "first": np.array([1, 3])}, axis=-2, mode="circular")
    _add("Swish", 24, {"x": _reals(3, 5)}, alpha=0.5)
    _add("CausalConvWithState", 27, {"x": _reals(1, 3, 5), "w": _reals(3, 1, 4), "bias": _reals(3),
                                     "state": _reals(1, 3, 3)}, 2, activation="silu")


def _elements():
    _add("BitCast", 26, {"x": _reals(3, 4)}, to=6)
    _add("CumProd", 26, {"x": _reals(3, 4), "axis": np.array(1)}, constants=("axis",), exclusive=1,
         reverse=1)
    _add("CumProd", 26, {"x": _reals(3, 4), "axis": np.array(1)})
    for constants in ((), ("start", "limit", "delta")):
        _add("Range", 27, {"start": np.float16(1), "limit": np.float16(9), "delta": np.float16(2)},
             constants=constants, stash_type=1)
    _add("TopK", 24, {"x": _reals(3, 4), "k": np.array([2])}, 2, ("k",), axis=-1, largest=1,
         sorted=1)
    _add("TopK", 24, {"x": _reals(3, 4), "k": np.array([2])}, 2)
    _add("SplitToSequence", 24, {"x": _reals(4, 3), "split": np.array([1, 3])},
         constants=("split",), axis=0, keepdims=1)
    _add("SplitToSequence", 24, {"x": _reals(4, 3), "split": np.array(2)})


def _quantised():
    for version in (23, 24, 25):
        how = {"saturate": 1} | ({"round_mode": "up"} if version > 23 else {})
        for to in (2, *range(_FLOAT8, _INT2 + 1)) if version == 25 else (_FLOAT8, _INT4):
            _add("Cast", version, {"x": _reals(3, 4)}, to=to, **how)
        _add("CastLike", version, {"x": _reals(3, 4), "like": np.zeros(1, np.uint8)}, **how)
        blocks = {"scale": _reals(3, 2) + 2, "zero": np.zeros((3, 2), np.uint8)}
        _add("QuantizeLinear", version, {"x": _reals(3, 4), **blocks}, axis=1, block_size=2,
             saturate=1, precision=1, output_dtype=2)
        for to in (_FLOAT8, _INT4, _INT2):
            _add("QuantizeLinear", version, {"x": _reals(3, 4), "scale": _reals(3) + 2}, axis=0,
                 block_size=0, saturate=1, precision=10, output_dtype=to)
        _add("DequantizeLinear", version, {"x": np.ones((3, 4), np.uint8), **blocks}, axis=1,
             block_size=2, output_dtype=1)


def _strings():
    words = np.array([["a b", ""], ["c", "\u00e9"]], object)
    _add("StringConcat", 20, {"x": words, "y": words[0]})
    _add("StringSplit", 20, {"x": words}, 2, delimiter=",", maxsplit=1)
    _add("RegexFullMatch", 20, {"x": words}, pattern=r"(\w|^)[a-z]{0,2}")


def nodes():
    if not _nodes:
        for add in (_attentions, _language, _elements, _quantised, _strings):
            add()
    return list(_nodes)
