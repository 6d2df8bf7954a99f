"""What classifiers and regressors share: post_transform and labels."""
import numpy as np

TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def logistic(x):
    return 1 / (1 + np.exp(-x))


def _softmax(x):
    y = np.exp(x - x.max(1, keepdims=True))
    return y / y.sum(1, keepdims=True)


def _softmax_zero(x):
    most = x.max(1, keepdims=True)
    is_other = np.abs(x) > 1e-7
    y = np.where(is_other, np.exp(x - most), x * np.exp(-most))
    total = np.where(is_other, y, 0).sum(1, keepdims=True)
    return y / np.where(total == 0, 1, total)


def _probit(x):
    y = 2 * x - 1
    logarithm = np.log((1 - y) * (1 + y))
    half = 2 / (np.pi * 0.147) + logarithm / 2
    return np.sqrt(2) * np.sign(y) * np.sqrt(np.sqrt(half * half - logarithm / 0.147) - half)


def transform(scores, name):
    functions = {"NONE": lambda x: x, "LOGISTIC": logistic, "SOFTMAX": _softmax,
                 "SOFTMAX_ZERO": _softmax_zero, "PROBIT": _probit}
    return functions[name](np.asarray(scores, np.float64)).astype(np.float32)


def labels(draw, count, integers="classlabels_int64s", strings="classlabels_strings"):
    """The attribute with `count` labels, and the labels as an array."""
    if draw.flag():
        values = [3 * i + 5 for i in range(count)]
        return {integers: values}, np.array(values)
    values = [f"class {i}" for i in range(count)]
    return {strings: values}, np.array(values, object)
