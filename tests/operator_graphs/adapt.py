"""Adapts a value of a graph to the shape, type and range of an input: by nodes of the standard
domain. An adaptation is chosen for the shapes of one call, and applies to other shapes or raises
Differs."""
import math

import numpy as np

import onnx_file
from replay import Differs

_WIDE = 8.0  # the magnitude of elements where the range of an input does not matter
_EXACT_CASTS = {("int32", "float32"), ("uint8", "float32"), ("int8", "float32"),
                ("int32", "int64"), ("uint8", "int64"), ("int8", "int64"), ("uint8", "int32"),
                ("int8", "int32"), ("int64", "float32")}


def _is_broadcast(shape, wanted):
    padded = (1,) * (len(wanted) - len(shape)) + tuple(shape)
    return len(padded) == len(wanted) and all(a in (1, b) for a, b in zip(padded, wanted))


def _transposition(shape, wanted):
    """An order of the axes, except the identity, that gives the wanted shape."""
    order, left = [], list(range(len(shape)))
    for size in wanted:
        axis = next((axis for axis in reversed(left) if shape[axis] == size), None)
        if axis is None:
            return None
        order.append(axis)
        left.remove(axis)
    return order if not left and order != sorted(order) else None


def plans(value, wanted, dtype):
    """The ways to adapt the value, with their weights."""
    have, wanted = value.array.shape, tuple(wanted)
    source = value.array.dtype.name
    if value.array.size == 0:
        return []
    if source != dtype.name and (source, dtype.name) not in _EXACT_CASTS:
        return []
    is_real = dtype == np.float32
    found = [(("flat",), 1)]
    if have == wanted:
        found.append((("same",), 30))
    if (order := _transposition(have, wanted)) is not None:
        found.append((("transpose", order), 10))
    if have != wanted and math.prod(have) == math.prod(wanted):
        found.append((("reshape", wanted), 6))
    if _is_broadcast(have, wanted) and have != wanted:
        found.append((("add",), 8) if is_real else (("expand", wanted), 4))
    if len(have) == len(wanted) and have != wanted and wanted:
        if all(a >= b for a, b in zip(have, wanted)):
            found.append((("slice", wanted), 5))
        differing = [axis for axis, (a, b) in enumerate(zip(have, wanted)) if a != b]
        if len(differing) == 1 and have[differing[0]] < wanted[differing[0]]:
            found.append((("concat", differing[0]), 6))
        if differing == [0]:
            found.append((("gather",), 6))
    if is_real and len(have) > 1 and wanted and have[-1] == wanted[-1]:
        found.append((("mean_rows", len(have)), 6))
    if is_real and have:
        found.append((("mean",), 2))
    return found


def _cast(state, value, dtype):
    if value.array.dtype == dtype:
        return value
    return state.apply("Cast", [value], lambda x: x.astype(dtype),
                       to=onnx_file.tensor_type(np.zeros(0, dtype)))


def _constant(state, numbers):
    return state.constant(np.array(numbers, np.int64))


def _flat(state, value, fresh):
    """The elements of the value and then those of `fresh`, as many as `fresh` has."""
    row = _constant(state, [-1])
    parts = [state.apply("Reshape", [x, row], lambda x, _: x.reshape(-1)) for x in (value, fresh)]
    joined = state.apply("Concat", parts, lambda *x: np.concatenate(x), axis=0)
    shape = state.apply("Shape", [fresh], lambda x: np.array(x.shape, np.int64))
    size = state.apply("Size", [fresh], lambda x: np.array(x.size))
    size = state.apply("Reshape", [size, row], lambda x, _: x.reshape(-1))
    part = state.apply("Slice", [joined, _constant(state, [0]), size], lambda x, _, n: x[:n[0]])
    return state.apply("Reshape", [part, shape], lambda x, dims: x.reshape(dims))


def _shaped(state, value, wanted, plan, fresh):
    """`fresh(shape)` is a new input of the graph with the type of the value."""
    kind, have = plan[0], value.array.shape
    if kind == "same":
        return value
    if kind == "flat":
        return _flat(state, value, fresh(wanted))
    if kind == "transpose":
        if len(have) != len(plan[1]):
            raise Differs("another rank")
        return state.apply("Transpose", [value], lambda x: x.transpose(plan[1]), perm=plan[1])
    if kind == "reshape":
        # The first axis is computed, so that its dim can be a symbol.
        dims = [-1, *plan[1][1:]] if plan[1] else []
        return state.apply("Reshape", [value, _constant(state, dims)], lambda x, _: x.reshape(dims))
    if kind == "expand":
        return state.apply("Expand", [value, _constant(state, plan[1])],
                           lambda x, _: np.broadcast_to(x, np.broadcast_shapes(x.shape, plan[1])))
    if kind == "add":
        return state.apply("Add", [value, fresh(wanted)], np.add)
    if kind == "slice":
        ends = [slice(0, end) for end in plan[1]]
        return state.apply("Slice", [value, _constant(state, [0] * len(ends)),
                                     _constant(state, plan[1])], lambda x, *_: x[tuple(ends)])
    if kind == "concat":
        axis = plan[1]
        rest = list(wanted)
        rest[axis] -= have[axis]
        if rest[axis] < 1:
            raise Differs("nothing to add")
        return state.apply("Concat", [value, fresh(rest)], lambda *x: np.concatenate(x, axis),
                           axis=axis)
    if kind == "gather":
        rows = state.fresh((wanted[0],), np.dtype(np.int64), 0, have[0] - 1)
        return state.apply("Gather", [value, rows], lambda x, i: x[i], axis=0)
    axes = list(range(plan[1] - 1 if kind == "mean_rows" else len(have)))
    mean = state.apply("ReduceMean", [value, _constant(state, axes)],
                       lambda x, _: x.mean(tuple(axes), dtype=np.float64).astype(np.float32),
                       keepdims=0)
    return state.apply("Add", [mean, fresh(wanted)], np.add)


def _limited(state, value, low, high, how):
    """The value with all elements in [low, high]."""
    dtype = value.array.dtype
    if dtype == np.float32:
        limits = (-_WIDE, _WIDE) if low <= -0.3 and high >= 0.3 else (low, high)
        if how == "none":
            if value.array.size and not (limits[0] <= value.array.min() and
                                         value.array.max() <= limits[1]):
                raise Differs("out of range")
            return value
        ends = [state.constant(np.float32(end)) for end in (low, high)]
        if how == "clip":
            return state.apply("Clip", [value, *ends], np.clip)
        unit = state.apply("Sigmoid", [value],
                           lambda x: (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32))
        span = state.constant(np.float32(high - low))
        return state.apply("Add", [state.apply("Mul", [unit, span], np.multiply), ends[0]], np.add)
    limits = np.iinfo(dtype)
    if low <= limits.min and high >= limits.max:
        return value
    if how == "none":
        if value.array.size and not (low <= value.array.min() and value.array.max() <= high):
            raise Differs("out of range")
        return value
    count_of = state.constant(np.array(high - low + 1, dtype))
    rest = state.apply("Mod", [value, count_of], np.mod)
    return state.apply("Add", [rest, state.constant(np.array(low, dtype))], np.add) if low else rest


def adapt(state, value, wanted, dtype, low, high, plan):
    """`plan` is (shape plan, limit)."""
    if value.array.size == 0:
        raise Differs("no elements")
    shape_plan, how = plan
    value = _cast(state, value, dtype)

    def fresh(shape):
        return state.fresh(tuple(shape), dtype, low, high)
    value = _shaped(state, value, tuple(wanted), shape_plan, fresh)
    if value.array.shape != tuple(wanted):
        raise Differs("another shape")
    return _limited(state, value, low, high, how)
