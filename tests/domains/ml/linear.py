"""Cases of linear models."""
import numpy as np

from operators import ML, Case, operator
from . import scores


def _input(draw, columns):
    x = draw.reals(draw.number(1, 6), columns)
    dtype = draw.choice(np.float32, np.float32, np.float64, np.int64, np.int32)
    return (x * 4).astype(dtype) if np.issubdtype(dtype, np.integer) else x.astype(dtype)


def _floats(array):
    return [float(number) for number in array.flat]


@operator("LinearRegressor", ML)
def _regressor(draw):
    columns, targets = draw.number(1, 6), draw.choice(1, 1, 3)
    x = draw.reals(draw.number(1, 6), columns)
    w, b = draw.reals(targets, columns), draw.reals(targets)
    transform = "NONE" if targets == 1 else draw.choice("NONE", "SOFTMAX", "LOGISTIC")
    y = scores.transform(x.astype(np.float64) @ w.T + b, transform)
    return Case({"x": x}, [y], {"coefficients": _floats(w), "intercepts": _floats(b),
                                "targets": targets, "post_transform": transform})


@operator("LinearClassifier", ML)
def _classifier(draw):
    columns, count = draw.number(1, 6), draw.choice(2, 3, 4)
    x = _input(draw, columns)
    rows = 1 if count == 2 and draw.flag() else count
    w, b = draw.reals(rows, columns), draw.reals(rows)
    attributes, labels = scores.labels(draw, count, integers="classlabels_ints")
    transform = draw.choice(*scores.TRANSFORMS[:4])
    total = x.astype(np.float64) @ w.T + b
    index = total.argmax(1) if rows > 1 else (total[:, 0] > 0).astype(int)
    # Softmax of one score has no effect.
    y = scores.transform(total, "NONE" if rows == 1 and "SOFTMAX" in transform else transform)
    if rows == 1:
        y = np.concatenate([1 - y, y], 1)
    attributes.update(coefficients=_floats(w), intercepts=_floats(b), post_transform=transform)
    return Case({"x": x}, [labels[index], y], attributes)
