"""Modules: loading, the signature, and the memory of a call."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._bound import Bound, make_bound
from ._html import table

_KINDS = ("tensor", "sequence", "optional", "optional sequence")


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """An input or an output."""

    name: str
    kind: str  #: "tensor", "sequence", "optional" or "optional sequence"
    dtype: str  #: element type: "f32", "i64", "str", ...
    #: Sizes as text: a number, the name of a dimension, or a formula. "?" can differ between the
    #: elements of a sequence. A single "..." is any rank.
    dims: tuple[str, ...]
    has_default: bool  #: whether a call can omit this input
    state_output: str | None  #: the output that is the value in the next call of a stream

    @property
    def type(self) -> str:
        """Such as "f32[n, 48]"."""
        text = f"{self.dtype}[{', '.join(self.dims)}]"
        return text if self.kind == "tensor" else f"{self.kind} {text}"

    def __repr__(self):
        return f"{self.name}: {self.type}"


@dataclasses.dataclass(frozen=True)
class Dimension:
    """A named dimension of the inputs, and its bounds.

    is_batch: requests can be joined along it, because the model computes each row of its outputs
    from the same row of its inputs.
    """

    name: str
    min: int
    max: int
    multiple_of: int
    is_batch: bool

    def __repr__(self):
        factor = f", a multiple of {self.multiple_of}" if self.multiple_of != 1 else ""
        batch = ", batch" if self.is_batch else ""
        return f"{self.name}: {self.min} to {self.max}{factor}{batch}"


@dataclasses.dataclass(frozen=True)
class Scope:
    """A memory scope of a device of the module."""

    device: str
    name: str

    def __repr__(self):
        return f"{self.device}.{self.name}"


def pairs_of(dims, what="dims"):
    """The names and values of a mapping as pairs for the extension module."""
    return [(name, _integer(value, f"{what}: {name}")) for name, value in dict(dims or {}).items()]


def ranges_of(dims):
    """Two lists of pairs, of least and most values. A value is an integer or a pair of them."""
    least, most = [], []
    for name, value in dict(dims or {}).items():
        is_pair = isinstance(value, (tuple, list)) and len(value) == 2
        low, high = value if is_pair else (value, value)
        least.append((name, _integer(low, name)))
        most.append((name, _integer(high, name)))
    return least, most


def library_names(names):
    """The names or paths of external libraries as strings."""
    for name in (names,) if isinstance(names, (str, os.PathLike)) else names:
        yield os.fsdecode(name)


def _integer(value, what):
    try:
        return value.__index__()
    except AttributeError:
        raise TypeError(f"{what}: expected an integer, given {value!r}") from None


def _rank(rank: int | None) -> int:
    if rank is None:
        return -1  # all ranks
    value = _integer(rank, "rank")
    if value < 0:
        raise ValueError(f"rank: expected an integer from 0, given {rank!r}")
    return value


class Module(_native.Module):
    """A loaded module: `Module.load()`, `Module.from_bytes()` or `scopevm.compile()`.

    A module contains native code. Load only modules from sources that you trust, or require a
    signature (`public_keys`).
    """

    @classmethod
    def load(cls, path: str | os.PathLike, *, public_keys: str | Sequence[str] = (),
             signature: str | None = None, weights_folder: str | os.PathLike | None = None,
             weights: Any = None, rank: int | None = None) -> "Module":
        """Maps and verifies a module file.

        With `public_keys` (texts of key files), only a module that one of them signed is loaded.
        `signature` is the text of the signature's file; otherwise, PATH.sig is read. The weights of
        a module that has them in another file are in `weights_folder`, or are the buffer `weights`.
        If each rank of a job has a file of weights, only that of `rank` is read.
        """
        folder = os.fspath(weights_folder) if weights_folder is not None else None
        return cls._load(path, _keys(public_keys), signature, folder, weights,
                         _rank(rank))

    @classmethod
    def from_bytes(cls, buffer: Any, *, public_keys: str | Sequence[str] = (),
                   signature: str | None = None, weights_folder: str | os.PathLike | None = None,
                   weights: Any = None, rank: int | None = None) -> "Module":
        """Loads a module from an object with the buffer protocol.

        The bytes are copied, unless the buffer is read-only and aligned to 64 bytes, as that of a
        mapped file: the module then keeps it.
        """
        with memoryview(buffer) as view:
            may_share = view.readonly
        folder = os.fspath(weights_folder) if weights_folder is not None else None
        return cls._from_buffer(buffer, may_share, _keys(public_keys), signature, folder, weights,
                                _rank(rank))

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """The inputs, in the order of the model: a tuple of TensorInfo."""
        outputs = [row[0] for row in self._outputs()]
        return tuple(_info(row, outputs) for row in self._inputs())

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """The outputs, in the order of the model: a tuple of TensorInfo."""
        return tuple(_info(row, ()) for row in self._outputs())

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The named dimensions of the inputs: a tuple of Dimension."""
        return tuple(Dimension(*row) for row in self._dimensions())

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The memory scopes of the module's devices: a tuple of Scope."""
        return tuple(Scope(*row) for row in self._scopes())

    def bound(self, dims: Mapping[str, int] | None = None, *, threads: int = 1,
              **named: int) -> Bound:
        """The bytes that a call allocates with these dimensions: `module.bound(n=4)`.

        Dimensions whose names are not identifiers, or are `threads`, are given as a dict.
        """
        values = pairs_of({**(dims or {}), **named})
        return make_bound(self._bound(values, None, threads), dict(values), threads)

    def largest_bound(self, dims: Mapping[str, int | tuple[int, int]] | None = None, *,
                      threads: int = 1, **named: int | tuple[int, int]) -> Bound:
        """The largest bound over ranges of dimensions: `module.largest_bound(n=(1, 64))`.

        A value is an integer or a pair of the least and the most. Dimensions that are omitted have
        their bounds in the module. No call within the ranges needs more memory.
        """
        given = {**(dims or {}), **named}
        least, most = ranges_of(given)
        return make_bound(self._bound(least, most, threads), given, threads)

    def __repr__(self):
        inputs = ", ".join(map(repr, self.inputs))
        outputs = ", ".join(map(repr, self.outputs))
        return f"<scopevm.Module ({inputs}) -> ({outputs})>"

    def _repr_html_(self):
        rows = [("input", v.name, v.type) for v in self.inputs]
        rows += [("output", v.name, v.type) for v in self.outputs]
        rows += [("dimension", d.name, repr(d).partition(": ")[2]) for d in self.dimensions]
        return table(("", "name", "type"), rows)


def _keys(public_keys):
    if isinstance(public_keys, str):
        return (public_keys,)
    return tuple(public_keys)


def _info(row, outputs):
    name, kind, dtype, dims, has_default, state = row
    return TensorInfo(name, _KINDS[kind], dtype, dims, has_default,
                      outputs[state] if 0 <= state < len(outputs) else None)
