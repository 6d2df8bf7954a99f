"""Inputs and outputs of 2, 4 and 8 bits: casts, elements that move, and changes of the type."""
import numpy as np

import onnx_file
from case_file import case, cases, rng

# Name, element type, bits, exponent and mantissa bits (none for integers), bias.
_TYPES = (
    ("int4", onnx_file.INT4, 4, None, None, 0),
    ("uint4", onnx_file.UINT4, 4, None, None, 0),
    ("int2", onnx_file.INT2, 2, None, None, 0),
    ("uint2", onnx_file.UINT2, 2, None, None, 0),
    ("float4e2m1", onnx_file.FLOAT4E2M1, 4, 2, 1, 1),
    ("float8e4m3fn", onnx_file.FLOAT8E4M3FN, 8, 4, 3, 7),
    ("float8e4m3fnuz", onnx_file.FLOAT8E4M3FNUZ, 8, 4, 3, 8),
    ("float8e5m2", onnx_file.FLOAT8E5M2, 8, 5, 2, 15),
    ("float8e5m2fnuz", onnx_file.FLOAT8E5M2FNUZ, 8, 5, 2, 16),
    ("float8e8m0", onnx_file.FLOAT8E8M0, 8, 8, 0, 127),
)


def _numbers(patterns, bits, exponent_bits, mantissa_bits, bias):
    """The numbers of floats with these bits, without NaN and infinities."""
    if mantissa_bits == 0:
        return np.exp2(patterns.astype(np.float64) - bias).astype(np.float32)
    patterns = patterns.astype(np.int64)
    mantissa = patterns & (1 << mantissa_bits) - 1
    exponent = patterns >> mantissa_bits & (1 << exponent_bits) - 1
    normal = np.where(exponent > 0, mantissa + (1 << mantissa_bits), mantissa)
    size = normal * np.exp2(np.maximum(exponent, 1) - bias - mantissa_bits)
    return np.where(patterns >> bits - 1, -size, size).astype(np.float32)


def _finite_patterns(name, bits):
    """All bits of finite numbers, in random order."""
    patterns = np.arange(1 << bits, dtype=np.uint8)
    if name in ("float8e4m3fn", "float8e5m2"):
        patterns = patterns[patterns & 127 < (127 if name == "float8e4m3fn" else 124)]
    elif name.endswith("fnuz"):
        patterns = patterns[patterns != 128]
    elif name == "float8e8m0":
        patterns = patterns[(patterns > 0) & (patterns < 255)]
    return rng(name).permutation(patterns)


def _elements(name, element, bits, exponent_bits, mantissa_bits, bias):
    """Elements of the type, an odd number, and their numbers."""
    if exponent_bits is None:
        low = -(1 << bits - 1) if np.issubdtype(element, np.signedinteger) else 0
        numbers = rng(name).integers(low, low + (1 << bits), 15)
        return numbers.astype(element), numbers.astype(np.float32)
    patterns = _finite_patterns(name, bits)
    patterns = patterns[:patterns.size // 3 * 3 - (patterns.size // 3 + 1) % 2 * 3]
    return (patterns.astype(element),
            _numbers(patterns, bits, exponent_bits, mantissa_bits, bias))


def write_cases():
    for name, *rest in _TYPES:
        x, numbers = _elements(name, *rest)
        code = onnx_file.tensor_type(x)
        cases(f"cast_from_{name}", 25, "Cast", {"x": x}, [numbers], to=onnx_file.FLOAT)
        cases(f"cast_to_{name}", 25, "Cast", {"x": numbers}, [x], to=code)
        rows, columns = x.reshape(3, -1), np.ascontiguousarray(x.reshape(3, -1).T)
        cases(f"transpose_{name}", 25, "Transpose", {"x": rows}, [columns.astype(x.dtype)])
    patterns = np.arange(256, dtype=np.uint8)
    for name, element in (("float8e4m3fn", onnx_file.FLOAT8E4M3FN),
                          ("float8e8m0", onnx_file.FLOAT8E8M0)):
        # 0x80 is a NaN in some types only, and NaNs are equal.
        finite = patterns[patterns & 127 < 127]
        x = finite.astype(element)
        cases(f"bit_cast_{name}_to_uint8", 26, "BitCast", {"x": x}, [finite], to=2)
        cases(f"bit_cast_{name}_to_int8", 26, "BitCast", {"x": x}, [finite.view(np.int8)], to=3)
        cases(f"bit_cast_int8_to_{name}", 26, "BitCast", {"x": finite.view(np.int8)}, [x],
              to=onnx_file.tensor_type(x))
    four = np.arange(15, dtype=np.uint8)
    signed = np.where(four < 8, four, four - 16.0).astype(onnx_file.INT4)
    unsigned = four.astype(onnx_file.UINT4)
    case("bit_cast_uint4_to_int4", 26, "BitCast", {"x": unsigned}, [signed], to=22)
    case("bit_cast_int4_to_float4e2m1", 26, "BitCast", {"x": signed},
         [four.astype(onnx_file.FLOAT4E2M1)], to=23)
    case("bit_cast_constant_float4e2m1_to_uint4", 26, "BitCast", {}, [unsigned],
         constants={"x": four.astype(onnx_file.FLOAT4E2M1)}, to=21)
