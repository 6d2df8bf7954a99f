"""Cases of ops that map categories."""
import numpy as np

import onnx_file
from operators import ML, Case, operator

_STRINGS = ["red", "green", "blue", "", "a longer text"]


def _strings(draw, *shape):
    texts = [*_STRINGS, "unknown"]
    return np.array([texts[i] for i in draw.integers(0, len(texts), *shape).flat],
                    object).reshape(shape)


def _shape(draw):
    return [draw.number(1, 5) for _ in range(draw.number(1, 3))]


def _map(x, keys, values, otherwise, dtype):
    table = dict(zip(reversed(keys), reversed(values)))
    y = [table.get(key, otherwise) for key in x.ravel().tolist()]
    return np.array(y, dtype).reshape(x.shape)


@operator("LabelEncoder", ML, 1)
def _label_encoder_1(draw):
    positions = list(range(len(_STRINGS)))
    if draw.flag():
        x = _strings(draw, *_shape(draw))
        return Case({"x": x}, [_map(x, _STRINGS, positions, -5, np.int64)],
                    {"classes_strings": _STRINGS, "default_int64": -5})
    x = draw.integers(-1, 7, *_shape(draw))
    return Case({"x": x}, [_map(x, positions, _STRINGS, "_Unused", object)],
                {"classes_strings": _STRINGS})


@operator("CategoryMapper", ML)
def _category_mapper(draw):
    codes = [10 * i + 7 for i in range(len(_STRINGS))]
    attributes = {"cats_strings": _STRINGS, "cats_int64s": codes, "default_string": "none"}
    if draw.flag():
        x = _strings(draw, *_shape(draw))
        return Case({"x": x}, [_map(x, _STRINGS, codes, -1, np.int64)], attributes)
    x = np.array(codes + [0])[draw.integers(0, 6, *_shape(draw))]
    return Case({"x": x}, [_map(x, codes, _STRINGS, "none", object)], attributes)


# The entries of LabelEncoder by the end of the attribute name: entries, default, element type.
_LISTS = {"strings": (_STRINGS, "_Unused", object), "int64s": ([4, -2, 0, 9, 77], -1, np.int64),
          "floats": ([0.5, -2.25, 0.0, 9.75, 77.0], -0.0, np.float32)}


@operator("LabelEncoder", ML, 2)
def _label_encoder_2(draw):
    # ONNX Runtime has no kernel for the pair of two equal types except strings.
    pairs = (("strings", "int64s"), ("strings", "floats"), ("int64s", "strings"),
             ("int64s", "floats"), ("floats", "strings"), ("floats", "int64s"),
             ("strings", "strings"), ("int64s", "int64s"), ("floats", "floats"))
    from_kind, to_kind = draw.choice(*pairs)
    keys, _, dtype = _LISTS[from_kind]
    values, otherwise, to = _LISTS[to_kind]
    x = (_strings(draw, *_shape(draw)) if from_kind == "strings" else
         np.array(keys + [3], dtype)[draw.integers(0, 6, *_shape(draw))])
    return Case({"x": x}, [_map(x, keys, values, otherwise, to)],
                {f"keys_{from_kind}": keys, f"values_{to_kind}": values})


@operator("LabelEncoder", ML, 4)
def _label_encoder_4(draw):
    if draw.flag():
        return _label_encoder_2(draw)
    dtype, to = draw.choice((np.float64, np.float64), (np.int64, np.int64))
    keys, values = np.array([4, -2, 0, 9, 77], dtype), np.array([1, 2, 3, 4, 5], to)
    x = np.append(keys, [3]).astype(dtype)[draw.integers(0, 6, *_shape(draw))]
    tensors = {"keys_tensor": keys, "values_tensor": values, "default_tensor": np.array([42], to)}
    return Case({"x": x}, [_map(x, keys.tolist(), values.tolist(), 42, to)],
                {name: onnx_file.tensor(value) for name, value in tensors.items()})


@operator("OneHotEncoder", ML)
def _one_hot_encoder(draw):
    if draw.flag():
        x, categories = _strings(draw, *_shape(draw)), _STRINGS
        attributes = {"cats_strings": categories}
    else:
        categories = [4, -2, 0, 9]
        x = np.array(categories + [5])[draw.integers(0, 5, *_shape(draw))]
        x = x.astype(draw.choice(np.int64, np.int32, np.float32, np.float64))
        attributes = {"cats_int64s": categories}
    y = np.stack([x == category for category in categories], -1).astype(np.float32)
    return Case({"x": x}, [y], attributes)
