"""Cases of weights that are quantised in blocks."""
import numpy as np

import onnx_file
from operators import Case, operator


def pack(numbers, bits):
    """Packs unsigned numbers along the last axis, the first number in the lowest bits."""
    per_byte = 8 // bits
    padding = -numbers.shape[-1] % per_byte
    numbers = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, padding)])
    numbers = numbers.reshape(*numbers.shape[:-1], -1, per_byte)
    shifts = (bits * np.arange(per_byte)).astype(np.uint8)
    return np.bitwise_or.reduce(numbers.astype(np.uint8) << shifts, axis=-1).astype(np.uint8)


@operator("MatMulNBits")
def _matmul_nbits(draw):
    bits, block = draw.choice(2, 4, 4, 8), draw.choice(16, 32, 64)
    depth, rows = draw.choice(16, 33, 64, 96, 100, 128), draw.number(1, 9)
    blocks = -(-depth // block)
    a = draw.reals(*[draw.number(1, 4) for _ in range(draw.number(1, 2))], depth)
    q = draw.integers(0, 1 << bits, rows, blocks, block)
    scales = draw.reals(rows, blocks, low=0.01, high=0.1)
    kind = draw.choice("none", "packed", "float")
    zero, given = np.full((rows, blocks), 1 << (bits - 1)), None
    if kind == "packed":
        zero = draw.integers(0, 1 << bits, rows, blocks)
        given = pack(zero, bits)
    elif kind == "float":
        zero = given = draw.reals(rows, blocks, low=0, high=1 << bits)
    bias = draw.reals(rows) if draw.flag() else None
    group, block_of = None, np.arange(depth) // block
    # ONNX Runtime reads other packed zero points if there is g_idx.
    if bits == 4 and kind != "packed" and draw.number(0, 2) == 0:
        group = block_of = draw.integers(0, blocks, depth, dtype=np.int32)
    weight = q.reshape(rows, -1)[:, :depth] - zero[:, block_of]
    weight = weight * scales.astype(np.float64)[:, block_of]
    y = a.astype(np.float64) @ weight.T + (0 if bias is None else bias)
    inputs = {"a": a, "b": pack(q, bits), "scales": scales, "zero": given, "g_idx": group,
              "bias": bias}
    attributes = {"K": depth, "N": rows, "block_size": block, "bits": bits}
    constants = tuple(name for name in inputs if name != "a") if draw.number(0, 2) else ()
    return Case(inputs, [y.astype(np.float32)], attributes, constants, tuple(inputs)[1:])


# The values of the 4-bit codes of bitsandbytes: FP4, NF4.
_CODES = np.array([
    [0.0, 5.208333333e-03, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25,
     0.0, -5.208333333e-03, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25],
    [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
     -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
     0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
     0.7229568362236023, 1.0]])


@operator("MatMulBnb4")
def _matmul_bnb4(draw):
    kind, block = draw.number(0, 1), draw.choice(16, 32, 64)
    depth, rows = draw.choice(16, 32, 40, 64), draw.choice(1, 3, 8)
    codes = draw.integers(0, 16, rows * depth)
    absmax = draw.reals(-(-rows * depth // block), low=0.1, high=2)
    packed = pack(codes.reshape(-1, 2)[:, ::-1].reshape(-1), 4)  # the first code in the high bits
    a = draw.reals(*[draw.number(1, 4) for _ in range(draw.number(1, 2))], depth)
    weight = _CODES[kind][codes] * np.repeat(absmax.astype(np.float64), block)[:rows * depth]
    y = a.astype(np.float64) @ weight.reshape(rows, depth).T
    return Case({"a": a, "b": packed, "absmax": absmax}, [y.astype(np.float32)],
                {"K": depth, "N": rows, "block_size": block, "quant_type": kind},
                ("b", "absmax") * draw.flag())


@operator("GatherBlockQuantized")
def _gather_block_quantized(draw):
    bits, block = draw.choice(4, 4, 8), draw.choice(16, 32)
    # The type of unpacked data.
    element = draw.choice(None, onnx_file.INT4, onnx_file.UINT4) if bits == 4 else None
    count, width = draw.number(2, 9), draw.choice(16, 32, 48, 64, 96)
    blocks = -(-width // block)
    least = -8 if element is onnx_file.INT4 else 0
    stored = (lambda x: np.array(x, element)) if element else lambda x: pack(x, bits)
    q = draw.integers(least, least + (1 << bits), count, width)
    scales = draw.reals(count, blocks, low=0.01, high=0.1)
    zero, given = np.full((count, blocks), 0 if element else 1 << (bits - 1)), None
    if draw.flag():
        zero = draw.integers(least, least + (1 << bits), count, blocks)
        given = stored(zero)
    indices = draw.integers(-count, count, *[draw.number(1, 4) for _ in range(draw.number(1, 3))],
                            dtype=draw.choice(np.int32, np.int64))
    full = (q - np.repeat(zero, block, 1)[:, :width]) * np.repeat(scales, block, 1)[:, :width]
    return Case({"data": stored(q), "indices": indices, "scales": scales, "zero": given},
                [full[indices].astype(np.float32)],
                {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1},
                ("data", "scales", "zero") if element else (), fixed=("data", "scales", "zero"))
