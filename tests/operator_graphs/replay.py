"""Draws whose decisions can be repeated, with other sizes of dims.

A case maker decides on a node by the numbers that it draws. `Replay` records them. A later replay
takes the same decisions, except that a renaming of sizes applies to those that are sizes of dims.
Arrays depend on their position in the replay and on their shape only, so that those of equal shape
are the same.
"""
import functools
import math
import zlib

import numpy as np

from operators import Draw

_POOL = 1 << 14


class Differs(Exception):
    """The model would differ, or has no results for these inputs."""


@functools.lru_cache(maxsize=64)
def _pool(seed):
    return np.random.default_rng(seed).random(_POOL)


def uniform(seed, position, shape):
    """Numbers in [0, 1). A generator for each array would take most of the time."""
    offset = zlib.crc32(repr((position, shape)).encode()) % _POOL
    at = np.arange(offset, offset + math.prod(shape))
    return np.take(_pool(seed), at, mode="wrap").reshape(shape)


class Replay(Draw):
    """`sizes` are the numbers that most dims have. `given` has arrays by position, which replace
    the drawn ones."""

    def __init__(self, seed, sizes=(), decisions=None, given=None):
        self._seed, self._sizes, self._earlier = seed, sizes, decisions
        self._rng = np.random.default_rng(seed) if decisions is None else None
        self._given = given or {}
        self.decisions = []  # (kind, value, low, high)
        self.arrays = []  # the drawn or given arrays, with (low, high)

    def _decide(self, kind, low, high):
        at = len(self.decisions)
        if self._earlier is None:
            value = int(self._rng.integers(low, high + 1))
            likely = [size for size in self._sizes if low <= size <= high]
            if kind == "number" and likely and self._rng.integers(4):
                value = likely[int(self._rng.integers(len(likely)))]
        else:
            if at >= len(self._earlier) or self._earlier[at][0] != kind:
                raise Differs("other decisions")
            value = self._earlier[at][1]
            if not low <= value <= high:
                raise Differs("decision out of range")
        self.decisions.append((kind, value, low, high))
        return value

    def _array(self, make, low, high, shape):
        at = len(self.arrays)
        array = self._given.get(at)
        if array is None:
            array = make(uniform(self._seed, at, shape))
        elif array.shape != shape:
            raise Differs("another shape")
        self.arrays.append((array, low, high))
        return array.copy()

    def reals(self, *shape, low=-2.0, high=2.0):
        return self._array(lambda unit: (low + (high - low) * unit).astype(np.float32), low, high,
                           shape)

    def integers(self, low, high, *shape, dtype=np.int64):
        return self._array(lambda unit: (low + np.floor((high - low) * unit)).astype(dtype), low,
                           high - 1, shape)

    def number(self, low, high):
        return self._decide("number", low, high)

    def choice(self, *values):
        return values[self._decide("choice", 0, len(values) - 1)]

    def flag(self):
        return bool(self._decide("flag", 0, 1))

    def permutation(self, count):
        return np.random.default_rng(self._decide("permutation", 0, 999)).permutation(count)


def renamed(decisions, free, sizes):
    """The decisions, with other sizes of those at the positions `free`."""
    return [(kind, sizes.get(value, value), low, high) if at in free else (kind, value, low, high)
            for at, (kind, value, low, high) in enumerate(decisions)]
