"""Cases of pooling ops. The references visit every window."""
import itertools
import math

import numpy as np

from case_file import case, cases, integers, reals


def _windows(x, kernel, strides, pads, dilations, ceil_mode):
    """Yields (result index, taps, counted) for each window. A tap is a position in x, or None in
    the padding. `counted` is the number of taps in x and its padding; with ceil_mode, the last
    windows can extend beyond the padding."""
    rank, sizes = len(kernel), x.shape[2:]
    counts = []
    for d in range(rank):
        span = sizes[d] + pads[d] + pads[rank + d] - dilations[d] * (kernel[d] - 1) - 1
        count = (math.ceil if ceil_mode else math.floor)(span / strides[d]) + 1
        # A window that would start at or after the end of x is omitted.
        if ceil_mode and (count - 1) * strides[d] >= sizes[d] + pads[d]:
            count -= 1
        counts.append(count)
    for index in itertools.product(*map(range, counts)):
        taps, counted = [], 0
        for offsets in np.ndindex(*kernel):
            at = [index[d] * strides[d] - pads[d] + offsets[d] * dilations[d] for d in range(rank)]
            inside = all(0 <= a < size for a, size in zip(at, sizes))
            counted += all(a < size + pads[rank + d]
                           for d, (a, size) in enumerate(zip(at, sizes)))
            taps.append(tuple(at) if inside else None)
        yield index, taps, counted


def _pool(x, function, kernel, strides=None, pads=None, dilations=None, ceil_mode=0):
    rank = len(kernel)
    found = list(_windows(x, kernel, strides or [1] * rank, pads or [0] * 2 * rank,
                          dilations or [1] * rank, ceil_mode))
    counts = [max(index[d] for index, _, _ in found) + 1 for d in range(rank)]
    y = np.zeros(x.shape[:2] + tuple(counts))
    for image, channel in np.ndindex(*x.shape[:2]):
        for index, taps, counted in found:
            y[(image, channel, *index)] = function(x[image, channel], taps, counted)
    return y


def _mean(include_pads):
    def mean(plane, taps, counted):
        values = [float(plane[t]) for t in taps if t]
        return sum(values) / (counted if include_pads else len(values))
    return mean


def _norm(p):
    return lambda plane, taps, _: sum(abs(float(plane[t])) ** p for t in taps if t) ** (1 / p)


def _greatest(plane, taps, _):
    return max(plane[t] for t in taps if t)


def _where(by_column):
    """Returns a function for _pool: the flat index of the first maximum of a window, in row-major
    or column-major order."""
    def where(plane, taps, _):
        best = max((t for t in taps if t), key=lambda t: (plane[t], [-i for i in t]))
        strides = [1]
        for size in (plane.shape[:-1] if by_column else plane.shape[:0:-1]):
            strides.append(strides[-1] * size)
        return sum(i * s for i, s in zip(best, strides if by_column else strides[::-1]))
    return where


def _average():
    x = reals("average", 1, 2, 7, 8)
    for name, settings in {
        "dilations": dict(kernel_shape=[2, 3], dilations=[2, 2]),
        "dilations_pads": dict(kernel_shape=[3, 3], dilations=[2, 1], pads=[2, 1, 1, 0],
                               strides=[2, 1]),
        "dilations_ceil": dict(kernel_shape=[2, 2], dilations=[2, 3], strides=[2, 2], ceil_mode=1),
    }.items():
        for include in (0, 1):
            arguments = {k.replace("_shape", ""): v for k, v in settings.items()}
            y = _pool(x, _mean(include), **arguments).astype(np.float32)
            cases(f"average_pool_{name}_{include}", 19 if include else 22, "AveragePool", {"x": x},
                 [y], count_include_pad=include, **settings)


def _lp():
    for name, shape, p, settings in (
        ("dilations", (1, 2, 7, 8), 3, dict(kernel_shape=[2, 2], dilations=[2, 3])),
        ("pads", (2, 1, 6), 2, dict(kernel_shape=[3], pads=[2, 1], strides=[2])),
        ("ceil", (1, 2, 7, 6), 2, dict(kernel_shape=[3, 2], strides=[3, 3], ceil_mode=1)),
        ("ceil_pads", (1, 1, 7), 1, dict(kernel_shape=[2], strides=[4], pads=[1, 1], ceil_mode=1)),
        ("volume", (1, 1, 4, 4, 5), 2, dict(kernel_shape=[2, 3, 2], strides=[2, 1, 1])),
    ):
        x = reals(f"lp{name}", *shape)
        arguments = {k.replace("_shape", ""): v for k, v in settings.items()}
        y = _pool(x, _norm(p), **arguments).astype(np.float32)
        cases(f"lp_pool_{name}", 22 if name == "ceil" else 18, "LpPool", {"x": x}, [y], p=p,
             **settings)


def _max():
    for name, shape, opset, settings in (
        ("plain", (2, 3, 5, 6), 12, dict(kernel_shape=[2, 2], strides=[2, 1])),
        ("columns", (1, 2, 5, 6), 12, dict(kernel_shape=[3, 2], storage_order=1)),
        ("pads", (1, 2, 6, 5), 22, dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], dilations=[2, 1])),
        ("ceil", (1, 2, 7, 7), 22, dict(kernel_shape=[2, 2], strides=[3, 3], ceil_mode=1)),
        ("volume", (1, 2, 4, 3, 4), 22, dict(kernel_shape=[2, 2, 3], storage_order=1)),
        ("line", (2, 2, 9), 22, dict(kernel_shape=[3], strides=[2])),
    ):
        x = reals(f"max{name}", *shape)
        arguments = {k.replace("_shape", ""): v for k, v in settings.items()
                     if k != "storage_order"}
        values = _pool(x, _greatest, **arguments).astype(np.float32)
        indices = _pool(x, _where(settings.get("storage_order")), **arguments).astype(np.int64)
        planes = np.arange(shape[0] * shape[1]).reshape(shape[:2] + (1,) * (len(shape) - 2))
        cases(f"max_pool_indices_{name}", opset, "MaxPool", {"x": x},
             [values, indices + planes * int(np.prod(shape[2:]))], **settings)
    x = integers("ties", 0, 3, 1, 1, 6, 6, dtype=np.int8)
    case("max_pool_indices_ties", 12, "MaxPool", {"x": x},
         [_pool(x, _greatest, [3, 3]).astype(np.int8),
          _pool(x, _where(0), [3, 3]).astype(np.int64)], kernel_shape=[3, 3])


def _unpool():
    x, shape = reals("unpool", 2, 1, 2, 3), (2, 1, 5, 7)
    places = np.stack([np.sort(integers(f"place{i}", 0, 4 * 6, 6)) + i * 24 for i in range(2)])
    indices = places.reshape(x.shape)
    inner = np.zeros(2 * 24, np.float32)
    for place, value in zip(indices.ravel(), x.ravel()):
        inner[place] = value
    inner = inner.reshape(2, 1, 4, 6)
    cases("max_unpool", 22, "MaxUnpool", {"x": x, "i": indices}, [inner], kernel_shape=[2, 2],
         strides=[2, 2])
    y = np.zeros(shape, np.float32)
    y[:, :, :4, :6] = inner
    case("max_unpool_larger", 11, "MaxUnpool", {"x": x, "i": indices}, [y],
         constants={"shape": np.array(shape)}, kernel_shape=[2, 2], strides=[2, 2])


def write_cases():
    _average()
    _lp()
    _max()
    _unpool()
