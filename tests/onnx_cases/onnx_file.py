"""Encodes ONNX messages with NumPy alone, so that the build needs no `onnx` package.

Each function returns the bytes of one message of onnx.proto. Fields are written in the order of
their numbers, as protobuf does. Only the fields that the test models use are covered.
"""
import numpy as np

from wire_format import content as _bytes, integer as _integer, real as _real, varint as _varint

FLOAT, INT64, FLOAT16 = 1, 7, 10  # TensorProto.DataType
_STRING = 8
_TENSOR_TYPES = {
    "float32": FLOAT, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": INT64,
    "object": _STRING, "bool": 9, "float16": FLOAT16, "float64": 11, "uint32": 12, "uint64": 13}
_TYPE = "TensorProto.DataType"


def _small(element, code):
    return np.dtype(element, metadata={_TYPE: code})


# Element types of the arrays that become tensors of types that NumPy lacks. The elements of integer
# arrays are the numbers, and those of floats their bits.
INT4, UINT4, INT2, UINT2 = (_small(np.int8, 22), _small(np.uint8, 21), _small(np.int8, 26),
                            _small(np.uint8, 25))
FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ, FLOAT4E2M1, FLOAT8E8M0 = (
    _small(np.uint8, code) for code in (17, 18, 19, 20, 23, 24))
_PACKED_BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}


class Tensor(bytes):
    """A TensorProto."""


class Graph(bytes):
    """A GraphProto."""


def _each(encode, field, values):
    return b"".join(encode(field, value) for value in values)


def tensor_type(array):
    """The TensorProto.DataType of the array's elements. Strings are Python objects."""
    return (array.dtype.metadata or {}).get(_TYPE) or _TENSOR_TYPES[array.dtype.name]


def _packed(array, bits):
    """The bytes of elements that share bytes, the first one in the lowest bits."""
    digits = array.reshape(-1).view(np.uint8) & (1 << bits) - 1
    digits = np.pad(digits, (0, -digits.size % (8 // bits))).reshape(-1, 8 // bits)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(digits << shifts, axis=1).tobytes()


def tensor(array, name=""):
    """A TensorProto with the array's elements."""
    array = np.asarray(array)
    encoded = _each(_integer, 1, array.shape) + _integer(2, tensor_type(array))
    if tensor_type(array) == _STRING:
        encoded += _each(_bytes, 6, array.flat)
    if name:
        encoded += _bytes(8, name)
    if tensor_type(array) != _STRING:
        bits = _PACKED_BITS.get(tensor_type(array))
        encoded += _bytes(9, _packed(array, bits) if bits else array.tobytes())
    return Tensor(encoded)


def half_tensor(values, name):
    """A TensorProto of float16 in the field int32_data, as onnx.helper.make_tensor writes it."""
    bits = np.array(values, np.float16)
    packed = b"".join(map(_varint, bits.view(np.uint16).tolist()))
    return Tensor(_each(_integer, 1, bits.shape) + _integer(2, FLOAT16) + _bytes(5, packed) +
                  _bytes(8, name))


def sequence(arrays):
    """A SequenceProto of tensors."""
    return _integer(2, 1) + _each(_bytes, 3, map(tensor, arrays))


# The field that stores a value in AttributeProto, its encoding and AttributeProto.AttributeType.
_ATTRIBUTE_KINDS = ((int, 3, _integer, 2), (float, 2, _real, 1), (str, 4, _bytes, 3),
                    (Tensor, 5, _bytes, 4), (Graph, 6, _bytes, 5))
_LIST_KINDS = ((int, 8, _integer, 7), (float, 7, _real, 6), (str, 9, _bytes, 8))


def _attribute(name, value):
    is_list = isinstance(value, (list, tuple))
    values = value if is_list else [value]
    kind = type(values[0])
    if all(isinstance(element, (int, float)) for element in values):
        kind = float if any(isinstance(element, float) for element in values) else int
    for python_type, field, encode, attribute_type in _LIST_KINDS if is_list else _ATTRIBUTE_KINDS:
        if issubclass(kind, python_type):
            return _bytes(1, name) + _each(encode, field, values) + _integer(20, attribute_type)
    raise TypeError(f"attribute {name}: no encoding for {kind.__name__}")


def node(op, inputs, outputs, domain="", node_name="", **attributes):
    """A NodeProto. The attributes are sorted by name."""
    encoded = [_attribute(name, attributes[name]) for name in sorted(attributes)]
    return (_each(_bytes, 1, inputs) + _each(_bytes, 2, outputs) +
            (_bytes(3, node_name) if node_name else b"") + _bytes(4, op) +
            _each(_bytes, 5, encoded) + (_bytes(7, domain) if domain else b""))


def _dim(dim):
    if dim is None:
        return b""
    return _bytes(2, dim) if isinstance(dim, str) else _integer(1, dim)


def value_info(name, element_type=None, dims=None, is_sequence=False):
    """A ValueInfoProto. Without `element_type`, it has no type; without `dims`, its rank is
    unknown. A dim is a number, a name, or None if it is unknown."""
    encoded = _bytes(1, name)
    if element_type is None:
        return encoded
    kind = _integer(1, element_type)
    if dims is not None:
        kind += _bytes(2, _each(_bytes, 1, map(_dim, dims)))
    kind = _bytes(1, kind)  # TypeProto.tensor_type
    if is_sequence:
        kind = _bytes(4, _bytes(1, kind))
    return encoded + _bytes(2, kind)


def graph(nodes, name, inputs, results, constants=()):
    """A GraphProto of encoded nodes, value infos and tensors."""
    return Graph(_each(_bytes, 1, nodes) + _bytes(2, name) + _each(_bytes, 5, constants) +
                 _each(_bytes, 11, inputs) + _each(_bytes, 12, results))


def model(encoded_graph, opset, ir_version, producer, domains=None):
    """A ModelProto. `domains` has the versions of further domains, by name."""
    opsets = {"": opset, **(domains or {})}
    return (_integer(1, ir_version) + _bytes(2, producer) + _bytes(7, encoded_graph) +
            b"".join(_bytes(8, _bytes(1, domain) + _integer(2, version))
                     for domain, version in opsets.items()))
