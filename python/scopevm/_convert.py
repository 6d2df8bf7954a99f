"""Conversions that the extension module does not do itself: Python numbers and lists, strings,
element types without a format in the buffer protocol, and arrays that cannot be used in place."""

import atexit
import threading

from . import _native
from ._errors import InvalidArgument, make_error

try:
    import numpy
except ImportError:
    numpy = None

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# The types of ml_dtypes that scopevm has. Arrays of these types are passed as their bytes.
_SMALL = {"bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz",
          "f8e5m2": "float8_e5m2", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0fnu": "float8_e8m0fnu"}
_NUMPY = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2",
          "u32": "u4", "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8"}


def _invalid(name, message):
    return InvalidArgument(f'input "{name}": {message}', subject=name)


def to_argument(value, dtype, name):
    """What the extension module reads as a tensor: an object with a buffer, (dtype, bytes of
    elements), or ("str", list of bytes, dims)."""
    if dtype == "str":
        return _strings(value, name)
    if numpy is None:
        raise TypeError(f'input "{name}": expected an object with the buffer protocol or DLPack, '
                        f"given {type(value).__name__}; numbers and lists need NumPy")
    if isinstance(value, numpy.ndarray):
        return _array(value, dtype, name)
    if isinstance(value, (bool, int, float, list, tuple, numpy.generic)):
        return _numbers(value, dtype, name)
    try:
        array = numpy.asarray(value)
    except Exception as error:  # any exception of the object's own methods
        message = f"cannot convert {type(value).__name__} to an array: {error}"
        raise _invalid(name, message) from error
    return _array(array, dtype, name)


def _array(array, dtype, name):
    """An array that has another byte order, that is not aligned, or whose type has no format."""
    if array.dtype.kind in "?biuf":
        native = array.dtype.newbyteorder("=")
        return numpy.array(array, dtype=native, order="C", copy=True)
    for short, long in _SMALL.items():
        if array.dtype.name == long and array.dtype.kind == "V":
            bytes_ = numpy.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
            return short, bytes_.reshape(array.shape)
    raise _invalid(name, f"expected elements of type {dtype}, given an array of {array.dtype}")


def _numbers(value, dtype, name):
    """Numbers and lists of them, whose values must fit the element type."""
    try:
        array = numpy.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise _invalid(name, str(error)) from error
    if array.dtype.kind not in "?biuf" and array.size:
        raise _invalid(name, f"expected numbers for {dtype}, given {_kind(value)}")
    if dtype in _SMALL and ml_dtypes is not None and dtype != "f8e8m0fnu":
        return _array(array.astype(getattr(ml_dtypes, _SMALL[dtype])), dtype, name)
    if dtype not in _NUMPY:
        raise _invalid(name, f"numbers cannot be converted to {dtype}: give a tensor of DLPack")
    target = numpy.dtype(_NUMPY[dtype])
    if array.size == 0:
        return array.astype(target)
    if target.kind == "b" and array.dtype.kind != "b":
        raise _invalid(name, f"expected bools, given {array.dtype}")
    if target.kind in "iu" and array.dtype.kind == "f":
        raise _invalid(name, f"expected integers for {dtype}, given {array.dtype}")
    if target.kind in "iu":
        limits = numpy.iinfo(target)
        least, most = int(array.min()), int(array.max())
        if least < limits.min or most > limits.max:
            raise _invalid(name, f"{least if least < limits.min else most} does not fit {dtype}")
    with numpy.errstate(over="ignore"):  # a number beyond the range becomes an infinity
        return array.astype(target)


def _kind(value):
    return type(value).__name__ if not isinstance(value, (list, tuple)) else "other objects"


def _encoded(text, name):
    if isinstance(text, str):
        return text.encode("utf-8", "surrogateescape")
    if isinstance(text, bytes):
        return bytes(text)
    raise _invalid(name, f"expected strings, given {type(text).__name__}")


def _strings(value, name):
    if isinstance(value, (str, bytes)):
        return "str", [_encoded(value, name)], ()
    if numpy is not None:
        if isinstance(value, (list, tuple)):
            dims = _dims_of(value, name)
            return "str", [_encoded(text, name) for text in _flat(value, len(dims))], dims
        if not isinstance(value, numpy.ndarray) or value.dtype.kind not in "OUST":
            raise _invalid(name, f"expected strings, given {_described(value)}")
        return "str", [_encoded(text, name) for text in value.ravel().tolist()], value.shape
    if not isinstance(value, (list, tuple)):
        raise _invalid(name, f"expected strings, given {type(value).__name__}")
    dims = _dims_of(value, name)
    return "str", [_encoded(text, name) for text in _flat(value, len(dims))], dims


def _described(value):
    is_array = isinstance(value, numpy.ndarray)
    return f"an array of {value.dtype}" if is_array else type(value).__name__


def _dims_of(value, name, depth=0):
    """The dims of nested lists, which must be regular."""
    if not isinstance(value, (list, tuple)):
        return ()
    if depth == 16:
        raise _invalid(name, "lists are nested more than 16 deep")
    dims = {_dims_of(item, name, depth + 1) for item in value}
    if len(dims) > 1:
        raise _invalid(name, "nested lists have different lengths")
    return (len(value), *(dims.pop() if dims else ()))


def _flat(value, depth):
    if depth == 0:
        return [value]
    return [text for item in value for text in _flat(item, depth - 1)]


def from_tensor(tensor):
    """The result for a tensor whose type has no format in the buffer protocol."""
    if tensor.dtype == "str":
        array = numpy.empty(len(strings := tensor.strings()), object)
        array[:] = strings
        return array.reshape(tensor.shape)
    scalar = getattr(ml_dtypes, _SMALL.get(tensor.dtype, ""), None)
    if scalar is None:
        return tensor
    return numpy.asarray(tensor.raw()).view(scalar).reshape(tensor.shape)


def install():
    """Sets what the extension module calls."""
    has_numpy = numpy is not None
    _native._install(make_error, to_argument, from_tensor if has_numpy else None,
                     numpy.asarray if has_numpy else None, threading.main_thread().ident)
    # Calls in flight use the interpreter when they end.
    atexit.register(_native._end_calls)
