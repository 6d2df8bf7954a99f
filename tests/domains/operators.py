"""The table of operators that have generated cases, and what their generators share.

A generator is a function with the decorator `operator`. It gets a `Draw`, a source of random
numbers, and returns a `Case`: a node with its inputs and the results that NumPy computes.
"""
import dataclasses
import typing
import zlib

import numpy as np

import case_file
import onnx_file

MICROSOFT, ML = "com.microsoft", "ai.onnx.ml"
_OPSET = 17  # of the standard domain
_table, _special = [], []


@dataclasses.dataclass
class Case:
    """Inputs by name; None is an absent input. `constants` are the names of inputs that are
    initializers. `fixed` are the names of other inputs whose dims are never symbols. A result that
    is None is not an output of the node."""
    inputs: dict
    results: list
    attributes: dict = dataclasses.field(default_factory=dict)
    constants: tuple = ()
    fixed: tuple = ()


@dataclasses.dataclass
class Operator:
    name: str
    domain: str
    version: int
    generate: typing.Callable
    title: str = ""  # of the cases; the name by default


def operator(name, domain=MICROSOFT, version=1):
    def register(generate):
        _table.append(Operator(name, domain, version, generate))
        return generate
    return register


def special(title, name, domain=MICROSOFT, version=1):
    """Further cases of an operator, which random graphs do not contain."""
    def register(generate):
        _special.append(Operator(name, domain, version, generate, f"{name}_{title}"))
        return generate
    return register


class Draw:
    """Random numbers, which depend on the name only."""

    def __init__(self, name):
        self._rng = np.random.default_rng(zlib.crc32(name.encode()))

    def reals(self, *shape, low=-2.0, high=2.0):
        return self._rng.uniform(low, high, shape).astype(np.float32)

    def integers(self, low, high, *shape, dtype=np.int64):
        """In [low, high)."""
        return self._rng.integers(low, high, shape).astype(dtype)

    def bytes(self, *shape, dtype=np.uint8):
        limits = np.iinfo(dtype)
        return self.integers(limits.min, limits.max + 1, *shape, dtype=dtype)

    def number(self, low, high):
        """An int in [low, high]."""
        return int(self._rng.integers(low, high + 1))

    def choice(self, *values):
        return values[int(self._rng.integers(len(values)))]

    def flag(self):
        return bool(self._rng.integers(2))

    def permutation(self, count):
        return self._rng.permutation(count)


def _write(op, index):
    title = op.title or op.name
    case = op.generate(Draw(f"{op.domain} {title} {op.version} {index}"))
    inputs = {key: np.asarray(value) for key, value in case.inputs.items()
              if value is not None and key not in case.constants}
    constants = {key: np.asarray(case.inputs[key]) for key in case.constants
                 if case.inputs[key] is not None}
    order = [key if value is not None else "" for key, value in case.inputs.items()]
    while order and not order[-1]:
        order.pop()
    results = {f"y{i}": np.asarray(value) for i, value in enumerate(case.results)
               if value is not None}
    outputs = ["" if value is None else f"y{i}" for i, value in enumerate(case.results)]
    while outputs and not outputs[-1]:
        outputs.pop()
    # Each second model has symbols as the dims of its inputs.
    is_dynamic = index % 2 == 1
    names = case_file.dim_names(
        {key: array for key, array in inputs.items() if key not in case.fixed},
        separator="_") if is_dynamic else {}
    version = f"_{op.version}" if op.version > 1 else ""
    case_file.graph_case(
        f"{title}{version}_{index:03}", _OPSET,
        [onnx_file.node(op.name, order, outputs, op.domain, **case.attributes)], inputs, results,
        constants, [case_file.value_info(key, array, names) for key, array in inputs.items()],
        [onnx_file.value_info(key) if is_dynamic else case_file.value_info(key, array, {})
         for key, array in results.items()],
        domains={op.domain: op.version} if op.domain else None)


def write_cases(count, names):
    """Writes `count` cases of each operator whose name contains one of the names. Of all operators
    if there are no names."""
    for op in [*_table, *_special]:
        if names and not any(name in (op.title or op.name) for name in names):
            continue
        for index in range(count):
            _write(op, index)


def table():
    return list(_table)
