"""Cases of ops that scale, select and join features."""
import numpy as np

from operators import ML, Case, operator


def _numbers(draw, *shape):
    dtype = draw.choice(np.float32, np.float64, np.int64, np.int32)
    if np.issubdtype(dtype, np.integer):
        return draw.integers(-9, 10, *shape, dtype=dtype)
    return draw.reals(*shape).astype(dtype)


def _floats(array):
    return [float(number) for number in array]


@operator("Scaler", ML)
def _scaler(draw):
    x = _numbers(draw, draw.number(1, 5), draw.number(1, 6))
    count = draw.choice(1, x.shape[1])
    offset, scale = draw.reals(count), draw.reals(count)
    y = (x.astype(np.float32) - offset) * scale
    return Case({"x": x}, [y], {"offset": _floats(offset), "scale": _floats(scale)})


@operator("Normalizer", ML)
def _normalizer(draw):
    x = _numbers(draw, draw.number(1, 5), draw.number(1, 6))
    norm = draw.choice("MAX", "L1", "L2")
    wide = x.astype(np.float64)
    sizes = {"MAX": wide.max(1), "L1": np.abs(wide).sum(1),
             "L2": np.sqrt((wide**2).sum(1))}[norm][:, None]
    y = wide / np.where(sizes == 0, 1, sizes)
    return Case({"x": x}, [y.astype(np.float32)], {"norm": norm})


@operator("Imputer", ML)
def _imputer(draw):
    x = _numbers(draw, draw.number(1, 5), draw.number(1, 6))
    is_real = np.issubdtype(x.dtype, np.floating)
    values = np.arange(draw.choice(1, x.shape[1])) + 100
    missing = draw.integers(0, 2, *x.shape).astype(bool)
    if is_real:
        replaced = draw.choice(float("nan"), -7.0)
        attributes = {"imputed_value_floats": _floats(values), "replaced_value_float": replaced}
    else:
        replaced = -99
        attributes = {"imputed_value_int64s": [int(value) for value in values],
                      "replaced_value_int64": replaced}
    x = np.where(missing, replaced, x).astype(x.dtype)
    return Case({"x": x}, [np.where(missing, values, x).astype(x.dtype)], attributes)


@operator("Binarizer", ML)
def _binarizer(draw):
    x = _numbers(draw, *[draw.number(1, 5) for _ in range(draw.number(1, 3))])
    threshold = draw.choice(0.0, 0.5, -1.5)
    return Case({"x": x}, [(x > threshold).astype(x.dtype)], {"threshold": threshold})


@operator("ArrayFeatureExtractor", ML)
def _array_feature_extractor(draw):
    x = _numbers(draw, *[draw.number(1, 5) for _ in range(draw.number(1, 3))])
    if draw.number(0, 3) == 0:
        x = np.array([f"s{number}" for number in x.flat], object).reshape(x.shape)
    indices = draw.integers(0, x.shape[-1], 1, draw.number(1, 4))
    rows = x.reshape(1, -1) if x.ndim == 1 else x
    return Case({"x": x, "y": indices}, [rows[..., indices[0]]])


@operator("FeatureVectorizer", ML)
def _feature_vectorizer(draw):
    rows = draw.number(1, 5)
    dtype = draw.choice(np.float32, np.float64, np.int64, np.int32)
    parts = [draw.integers(-9, 9, rows, draw.number(1, 4)).astype(dtype)
             for _ in range(draw.number(1, 3))]
    return Case({f"x{i}": part for i, part in enumerate(parts)},
                [np.concatenate(parts, 1).astype(np.float32)],
                {"inputdimensions": [part.shape[1] for part in parts]})
