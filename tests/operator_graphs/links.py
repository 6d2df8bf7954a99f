"""Finds the inputs of a case that are drawn arrays, possibly transposed and reshaped."""
import dataclasses
import itertools

import numpy as np


@dataclasses.dataclass
class Link:
    """The input `key` has the elements of the drawn array `position`, after its axes are permuted.
    `low` and `high` limit its elements."""
    key: str
    position: int
    order: tuple
    shape: tuple  # of the drawn array
    low: float
    high: float

    def drawn(self, array, shape):
        """The drawn array of this shape for which the input is `array`."""
        permuted = array.reshape([shape[axis] for axis in self.order])
        return np.ascontiguousarray(permuted.transpose(np.argsort(self.order)))


def is_equal(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _order(drawn, array):
    if drawn.dtype != array.dtype or drawn.size != array.size:
        return None
    for order in itertools.permutations(range(min(drawn.ndim, 4))):
        if len(order) == drawn.ndim and drawn.transpose(order).tobytes() == array.tobytes():
            return order
    return None


def links(case, arrays):
    """One for each input that is neither a constant nor computed from drawn arrays. Arrays of one
    element are not unique."""
    found = []
    for key, array in case.inputs.items():
        if array is None or key in case.constants or np.size(array) < 2:
            continue
        array = np.asarray(array)
        for position, (drawn, low, high) in enumerate(arrays):
            order = _order(np.asarray(drawn), array) if drawn.dtype != object else None
            if order is not None:
                found.append(Link(key, position, order, drawn.shape, low, high))
                break
    return found
