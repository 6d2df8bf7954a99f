#!/usr/bin/python3
"""Generates cases of quantised operators. The expected results come from the operators' definitions
in NumPy. Most cases test rules that ONNX's own cases do not test: opsets 19 and 21, blocks, 16-bit
types, zero points and scales of every granularity, borders, groups, and symbolic dims."""
import itertools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "onnx_cases"))

import case_file  # noqa: E402
import onnx_file  # noqa: E402
import requantised  # noqa: E402
import selections  # noqa: E402
import small_results  # noqa: E402
import weights  # noqa: E402

RNG = np.random.default_rng(20)
RANGES = {dtype: np.iinfo(dtype) for dtype in ("uint8", "int8", "uint16", "int16", "int32")}


def case(name, op, opset, inputs, outputs, constants=(), dynamic=(), **attributes):
    """Writes a case of one node. `inputs` are pairs (name, array) in the node's order; the array of
    an absent input is None. `constants` names the inputs that are initializers, and `dynamic` the
    inputs whose dims are symbols."""
    node = onnx_file.node(op, [key if array is not None else "" for key, array in inputs],
                          [f"y{i}" for i in range(len(outputs))], **attributes)
    given = [(key, array) for key, array in inputs if array is not None]
    graph_case(name, [node], opset, given, outputs, constants, dynamic)


def graph_case(name, nodes, opset, inputs, outputs, constants=(), dynamic=()):
    """Writes a case of several nodes. Their results are y0, y1, ..."""
    given = {key: np.asarray(array) for key, array in inputs}
    fed = {key: array for key, array in given.items() if key not in constants}
    results = {f"y{i}": np.asarray(array) for i, array in enumerate(outputs)}
    symbols = {key: array for key, array in fed.items() if key in dynamic}
    if dynamic:
        symbols |= results
    dims = case_file.dim_names(symbols, separator="_")
    case_file.graph_case(
        name, opset, nodes, fed, results,
        {key: array for key, array in given.items() if key in constants},
        [case_file.value_info(key, array, dims) for key, array in fed.items()],
        [case_file.value_info(key, array, dims) for key, array in results.items()],
        ir_version=8, producer="scopevm tests")


def saturate(x, dtype):
    limits = RANGES[np.dtype(dtype).name]
    return np.clip(x, limits.min, limits.max).astype(dtype)


def any_bytes(dtype, *shape):
    limits = RANGES[np.dtype(dtype).name]
    return RNG.integers(limits.min, limits.max + 1, shape).astype(dtype)


# --- Quantisation and dequantisation. -------------------------------------------------------------


def spread(parameter, x, axis, block):
    """Repeats or reshapes a scale or zero point so that it broadcasts to x."""
    if block:
        wide = np.repeat(parameter, block, axis)
        return np.take(wide, np.arange(x.shape[axis]), axis)
    if parameter.size == 1:
        return parameter.reshape(())
    return parameter.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])


def quantise(x, scale, zero, dtype, axis=1, block=0):
    scale = spread(scale, x, axis, block)
    zero = spread(zero, x, axis, block).astype(np.float64)
    quotient = (x / scale).astype(scale.dtype).astype(np.float64)
    return saturate(np.rint(quotient) + zero, dtype)


def quantize_case(name, opset, x, scale, zero, dtype=np.uint8, axis=1, block=0, constants=(),
                  dynamic=(), **attributes):
    scale = np.asarray(scale, x.dtype)
    if axis != 1:
        attributes["axis"] = axis
    if block:
        attributes["block_size"] = block
    given = None if zero is None else np.asarray(zero, dtype)
    y = quantise(x, scale, np.zeros(scale.shape) if zero is None else given, dtype, axis, block)
    case(f"quantize_{name}", "QuantizeLinear", opset,
         [("x", x), ("scale", scale), ("zero", given)], [y], constants, dynamic, **attributes)


def dequantize_case(name, opset, x, scale, zero, axis=1, block=0, constants=(), dynamic=(),
                    **attributes):
    if axis != 1:
        attributes["axis"] = axis
    if block:
        attributes["block_size"] = block
    given = None if zero is None else np.asarray(zero, x.dtype)
    wide_scale = spread(scale, x, axis, block)
    offset = 0 if zero is None else spread(given, x, axis, block).astype(np.int64)
    y = ((x.astype(np.int64) - offset).astype(np.float32) * wide_scale.astype(np.float32))
    case(f"dequantize_{name}", "DequantizeLinear", opset,
         [("x", x), ("scale", scale), ("zero", given)], [y.astype(scale.dtype)], constants, dynamic,
         **attributes)


def f32(*shape):
    return RNG.uniform(-9, 9, shape).astype(np.float32)


def scales(*shape, dtype=np.float32):
    return RNG.uniform(0.02, 0.2, shape).astype(dtype)


def linear_cases():
    halves = np.array([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 1e30, -1e30, np.inf, -np.inf],
                      np.float32)
    for dtype in (np.uint8, np.int8):
        name = np.dtype(dtype).name
        quantize_case(f"halves_{name}_10", 10, halves, 1, 3, dtype)
        quantize_case(f"axis_{name}_13", 13, f32(2, 5, 3), scales(5), any_bytes(dtype, 5), dtype,
                      constants=("scale", "zero"))
    quantize_case("no_zero_13", 13, f32(3, 4), scales(), None)
    quantize_case("one_element_13", 13, f32(4), scales(1), [7])
    quantize_case("last_axis_dynamic_13", 13, f32(2, 3, 7), scales(7), any_bytes(np.uint8, 7),
                  axis=-1, dynamic=("x",))
    quantize_case("constant_saturates_13", 13, np.array([[-900, 900, 2]], np.float32), 0.5, 100,
                  constants=("x", "scale", "zero"))
    # The quotient has the precision of the scale's type. In float16, 101.49 is 101.5, which rounds
    # to the even number 102.
    quantize_case("float16_19", 19, np.array([[101.49, -3.5, 60000, 0.3]], np.float16), 1, 0)
    quantize_case("float16_axis_19", 19, f32(3, 4).astype(np.float16), scales(4), [0, 3, 128, 255])
    for dtype in (np.uint16, np.int16):
        name = np.dtype(dtype).name
        quantize_case(f"{name}_21", 21, f32(3, 50) * 1000, scales(), 1000, dtype)
        quantize_case(f"{name}_blocks_21", 21, f32(4, 6), scales(2, 6), any_bytes(dtype, 2, 6),
                      dtype, axis=0, block=2)
    quantize_case("output_dtype_21", 21, f32(3, 4) * 50, scales(), None, np.int8, output_dtype=3)
    quantize_case("blocks_last_axis_21", 21, f32(2, 3, 12), scales(2, 3, 3),
                  any_bytes(np.int8, 2, 3, 3), np.int8, axis=-1, block=4)
    quantize_case("blocks_ragged_21", 21, f32(3, 7), scales(3, 3), None, np.uint8, block=3)
    quantize_case("blocks_ragged_dynamic_21", 21, f32(3, 7), scales(3, 3),
                  any_bytes(np.uint8, 3, 3), block=3, dynamic=("x", "scale", "zero"))
    for dtype in (np.uint8, np.int8):
        name = np.dtype(dtype).name
        dequantize_case(f"{name}_10", 10, any_bytes(dtype, 4, 5), scales(), 9)
        dequantize_case(f"axis_{name}_13", 13, any_bytes(dtype, 2, 5, 3), scales(5),
                        any_bytes(dtype, 5), constants=("scale", "zero"))
    dequantize_case("int32_13", 13, any_bytes(np.int32, 3, 4), scales(), None)
    dequantize_case("int32_axis_13", 13, any_bytes(np.int32, 3, 4), scales(4), None)
    dequantize_case("float16_19", 19, any_bytes(np.uint8, 3, 4), scales(4, dtype=np.float16),
                    any_bytes(np.uint8, 4))
    for dtype in (np.uint16, np.int16):
        name = np.dtype(dtype).name
        dequantize_case(f"{name}_21", 21, any_bytes(dtype, 3, 50), scales(), 1000)
    dequantize_case("blocks_21", 21, any_bytes(np.int8, 4, 6), scales(2, 6),
                    any_bytes(np.int8, 2, 6), axis=0, block=2)
    dequantize_case("blocks_float16_21", 21, any_bytes(np.uint8, 3, 8),
                    scales(3, 2, dtype=np.float16), None, block=4, constants=("x", "scale"))
    dequantize_case("blocks_ragged_21", 21, any_bytes(np.int8, 2, 7), scales(2, 3),
                    any_bytes(np.int8, 2, 3), block=3, dynamic=("x",))


def dynamic_case(name, x, dynamic=()):
    x = np.asarray(x, np.float32)
    high, low = max(x.max(), np.float32(0)), min(x.min(), np.float32(0))
    # A tensor of zeros has the scale 1, as in ONNX Runtime.
    scale = np.float32((high - low) / np.float32(255)) or np.float32(1)
    zero = saturate(np.rint(-low / scale), np.uint8)
    y = quantise(x, scale, zero, np.uint8)
    case(f"dynamic_quantize_{name}", "DynamicQuantizeLinear", 11, [("x", x)], [y, scale, zero],
         dynamic=dynamic)


# --- Products. ------------------------------------------------------------------------------------


def wide(zero):
    return np.int64(0) if zero is None else np.asarray(zero).astype(np.int64)


def centred_product(a, a_zero, b, b_zero):
    a_zero = wide(a_zero)
    if a_zero.ndim == 1:
        a_zero = a_zero[:, None]
    return np.matmul(a.astype(np.int64) - a_zero, b.astype(np.int64) - wide(b_zero))


def integer_case(name, a, b, a_zero=None, b_zero=None, constants=(), dynamic=()):
    given = [None if zero is None else np.asarray(zero, x.dtype)
             for x, zero in ((a, a_zero), (b, b_zero))]
    y = centred_product(a, given[0], b, given[1]).astype(np.int32)
    case(f"matmul_integer_{name}", "MatMulInteger", 10,
         [("a", a), ("b", b), ("a_zero", given[0]), ("b_zero", given[1])], [y], constants, dynamic)


def rescale(sums, scale, y_scale, y_zero):
    factor = (scale / y_scale).astype(np.float32)
    return saturate(np.rint(sums.astype(np.float32) * factor) + y_zero.astype(np.float64),
                    y_zero.dtype)


def product_cases():
    types = (np.uint8, np.int8)
    for a_type, b_type in itertools.product(types, types):
        name = f"{np.dtype(a_type).name}_{np.dtype(b_type).name}"
        a, b = any_bytes(a_type, 5, 37), any_bytes(b_type, 37, 40)
        integer_case(f"{name}", a, b, 3, 5)
        integer_case(f"{name}_constant", a, b, 100, None, constants=("b", "a_zero"))
        integer_case(f"{name}_dynamic", a, b, 100, 7, dynamic=("a", "b"))
    a, b = any_bytes(np.uint8, 4, 9), any_bytes(np.uint8, 9, 6)
    integer_case("zero_per_row_and_column", a, b, any_bytes(np.uint8, 4), any_bytes(np.uint8, 6))
    integer_case("zero_of_constant_per_column", a, b, None, any_bytes(np.uint8, 6),
                 constants=("b", "b_zero"))
    integer_case("zero_is_128", a, b, 7, 128, constants=("b", "b_zero"))
    integer_case("batch", any_bytes(np.int8, 3, 4, 9), any_bytes(np.uint8, 3, 9, 6), 9, 200)
    integer_case("batch_and_matrix", any_bytes(np.uint8, 3, 4, 9), b, 9, 200)
    integer_case("vector_matrix", any_bytes(np.uint8, 9), b, 9, 200)
    integer_case("matrix_vector", a, any_bytes(np.int8, 9), 9, -20)
    integer_case("vectors", any_bytes(np.int8, 9), any_bytes(np.int8, 9), 9, -20)
    integer_case("no_depth", any_bytes(np.uint8, 3, 0), any_bytes(np.uint8, 0, 4), 9, 200)
    for y_type, per_column in itertools.product(types, (False, True)):
        a, b = any_bytes(np.uint8, 5, 30), any_bytes(np.int8, 30, 34)
        shape = (34,) if per_column else ()
        a_scale, y_scale = np.float32(0.02), np.float32(0.7)
        b_scale, b_zero = scales(*shape), any_bytes(np.int8, *shape)
        a_zero, y_zero = np.uint8(120), np.asarray(11, y_type)
        y = rescale(centred_product(a, a_zero, b, b_zero), a_scale * b_scale, y_scale, y_zero)
        case(f"qlinear_matmul_{np.dtype(y_type).name}{'_per_column' * per_column}", "QLinearMatMul",
             10, [("a", a), ("a_scale", a_scale), ("a_zero", a_zero), ("b", b),
                  ("b_scale", b_scale), ("b_zero", b_zero), ("y_scale", y_scale),
                  ("y_zero", y_zero)], [y], ("b", "b_scale", "b_zero") if per_column else (), ("a",))


def between_linears_case(name, op, a_type, b_type, per_column, transposed=False):
    """The product of two operands, each from a DequantizeLinear: (a - a_zero) * a_scale and
    (b - b_zero) * b_scale."""
    a, b = any_bytes(a_type, 5, 37), any_bytes(b_type, 37, 40)
    shape = (40,) if per_column else ()
    a_scale, b_scale = np.float32(0.02), scales(*shape)
    a_zero, b_zero = any_bytes(a_type), any_bytes(b_type, *shape)
    y = centred_product(a, a_zero, b, b_zero).astype(np.float32) * (a_scale * b_scale)
    nodes = [
        onnx_file.node("DequantizeLinear", ["a", "a_scale", "a_zero"], ["left"]),
        onnx_file.node("DequantizeLinear", ["b", "b_scale", "b_zero"], ["right"],
                         axis=0 if transposed else 1),
        onnx_file.node(op, ["left", "right"], ["y0"], **({"transB": 1} if transposed else {})),
    ]
    graph_case(f"{op.lower()}_of_dequantised_{name}", nodes, 13,
               [("a", a), ("a_scale", a_scale), ("a_zero", a_zero),
                ("b", b.T.copy() if transposed else b), ("b_scale", b_scale), ("b_zero", b_zero)],
               [y], ("a_scale", "a_zero", "b", "b_scale", "b_zero"), ("a",))


def conv_between_linears_case(per_channel, has_bias):
    x, w = any_bytes(np.uint8, 2, 3, 6, 7), any_bytes(np.int8, 5, 3, 3, 3)
    shape = (5,) if per_channel else ()
    x_scale, w_scale = np.float32(0.02), scales(*shape)
    x_zero, w_zero = any_bytes(np.uint8), any_bytes(np.int8, *shape)
    bias = f32(5)
    sums = conv_sums(x, x_zero, w, w_zero, [1, 2], [1, 0, 1, 2], [1, 1], 1)
    factor = np.broadcast_to(x_scale * w_scale, (5,)).reshape(5, 1, 1)
    y = sums.astype(np.float32) * factor + (bias.reshape(5, 1, 1) if has_bias else 0)
    nodes = [
        onnx_file.node("DequantizeLinear", ["x", "x_scale", "x_zero"], ["image"]),
        onnx_file.node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["weights"], axis=0),
        onnx_file.node("Conv", ["image", "weights"] + ["bias"] * has_bias, ["y0"],
                         strides=[1, 2], pads=[1, 0, 1, 2]),
    ]
    inputs = [("x", x), ("x_scale", x_scale), ("x_zero", x_zero), ("w", w), ("w_scale", w_scale),
              ("w_zero", w_zero)] + [("bias", bias)] * has_bias
    graph_case(f"conv_of_dequantised{'_per_channel' * per_channel}", nodes, 13, inputs,
               [y.astype(np.float32)], [key for key, _ in inputs[1:]], ("x",))


def weights_case():
    """A product of floats with weights that are stored as bytes and dequantised."""
    a, b, b_scale = f32(5, 37), any_bytes(np.int8, 37, 40), scales(40)
    y = np.matmul(a.astype(np.float64), b * b_scale.astype(np.float64)).astype(np.float32)
    nodes = [onnx_file.node("DequantizeLinear", ["b", "b_scale"], ["weights"], axis=1),
             onnx_file.node("MatMul", ["a", "weights"], ["y0"])]
    graph_case("matmul_of_dequantised_weights", nodes, 13,
               [("a", a), ("b", b), ("b_scale", b_scale)], [y], ("b", "b_scale"), ("a",))


def deep_case():
    """A product whose sums exceed the range of i32."""
    depth, scale = 40000, np.float32(2**-10)
    a, b = np.full((1, depth), 255, np.uint8), np.full((depth, 1), 127, np.int8)
    a_zero, b_zero = np.array(0, np.uint8), np.array(-128, np.int8)
    y = np.full((1, 1), depth * 255 * 255 * 2.0**-20, np.float32)
    nodes = [onnx_file.node("DequantizeLinear", ["a", "scale", "a_zero"], ["left"]),
             onnx_file.node("DequantizeLinear", ["b", "scale", "b_zero"], ["right"]),
             onnx_file.node("MatMul", ["left", "right"], ["y0"])]
    graph_case("matmul_of_dequantised_deep", nodes, 13,
               [("a", a), ("scale", scale), ("a_zero", a_zero), ("b", b), ("b_zero", b_zero)], [y],
               ("scale", "a_zero", "b", "b_zero"), ("a",))


def precision_case():
    """A constant that rounds to another integer with the precision of FLOAT16."""
    x, one, zero = any_bytes(np.uint8, 3, 4), np.float32(1), np.uint8(0)
    bound = np.float32(2.5005)
    y = saturate(np.rint(np.maximum(x.astype(np.float32), bound).astype(np.float16)), np.uint8)
    nodes = [onnx_file.node("DequantizeLinear", ["x", "scale", "zero"], ["real"]),
             onnx_file.node("Max", ["real", "bound"], ["most"]),
             onnx_file.node("QuantizeLinear", ["most", "scale", "zero"], ["y0"], precision=10)]
    graph_case("selection_precision_23", nodes, 23,
               [("x", x), ("scale", one), ("zero", zero), ("bound", bound)], [y],
               ("scale", "zero", "bound"))


def wrapped_difference_case():
    """A difference of bytes is not a dequantisation."""
    x, scale, zero = any_bytes(np.uint8, 3, 40), np.float32(0.5), np.uint8(5)
    y = saturate(np.rint((x - zero).astype(np.float32) * scale / scale) + 5.0, np.uint8)
    nodes = [onnx_file.node("Sub", ["x", "zero"], ["distance"]),
             onnx_file.node("Cast", ["distance"], ["wide"], to=onnx_file.FLOAT),
             onnx_file.node("Mul", ["wide", "scale"], ["real"]),
             onnx_file.node("QuantizeLinear", ["real", "scale", "zero"], ["y0"])]
    graph_case("wrapped_difference", nodes, 14,
               [("x", x), ("scale", scale), ("zero", zero)], [y], ("scale", "zero"))


def between_linears_cases():
    weights_case()
    deep_case()
    types = (np.uint8, np.int8)
    for a_type, b_type, per_column in itertools.product(types, types, (False, True)):
        name = f"{np.dtype(a_type).name}_{np.dtype(b_type).name}{'_per_column' * per_column}"
        between_linears_case(name, "MatMul", a_type, b_type, per_column)
    for per_channel, bias in ((False, False), (True, True)):
        conv_between_linears_case(per_channel, bias)
    between_linears_case("per_column", "Gemm", np.uint8, np.int8, True)
    between_linears_case("transposed", "Gemm", np.uint8, np.int8, True, transposed=True)
    for seed in range(52):
        nodes, inputs, constants, y = selections.selection(seed, quantise)
        dynamic = [key for key, _ in inputs if key not in constants] if seed % 3 == 0 else []
        graph_case(f"selection_{seed}", nodes, 13, inputs, [y], constants, dynamic)
    for seed in range(40):
        nodes, inputs, constants, y = requantised.convolution(seed, conv_sums)
        graph_case(f"requantised_{seed}", nodes, 13, inputs, [y], constants,
                   ("x",) if seed % 3 == 0 else ())
    precision_case()
    wrapped_difference_case()


# --- Convolutions. --------------------------------------------------------------------------------


def conv_sums(x, x_zero, w, w_zero, strides, pads, dilations, group):
    rank = x.ndim - 2
    w_zero = wide(w_zero)
    if w_zero.ndim == 1:
        w_zero = w_zero.reshape([-1] + [1] * (rank + 1))
    x, w = x.astype(np.int64) - wide(x_zero), w.astype(np.int64) - w_zero
    x = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[rank + i]) for i in range(rank)])
    spans = [(w.shape[2 + i] - 1) * dilations[i] + 1 for i in range(rank)]
    out = [(x.shape[2 + i] - spans[i]) // strides[i] + 1 for i in range(rank)]
    rows, channels = w.shape[0] // group, w.shape[1]
    y = np.zeros([x.shape[0], w.shape[0]] + out, np.int64)
    for row, at in itertools.product(range(w.shape[0]), np.ndindex(*out)):
        first = row // rows * channels
        window = tuple(slice(o * s, o * s + span, d)
                       for o, s, span, d in zip(at, strides, spans, dilations))
        seen = x[(slice(None), slice(first, first + channels)) + window]
        y[(slice(None), row) + at] = (seen * w[row]).reshape(x.shape[0], -1).sum(1)
    return y


def conv_case(name, x, w, x_zero=None, w_zero=None, strides=None, pads=None, dilations=None,
              group=1, bias=False, per_channel=False, y_type=np.uint8, integer=False,
              constants=("w", "w_scale", "w_zero", "bias"), dynamic=()):
    rank = x.ndim - 2
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    pads = pads or [0] * 2 * rank
    x_zero = None if x_zero is None else np.asarray(x_zero, x.dtype)
    w_zero = None if w_zero is None else np.asarray(w_zero, w.dtype)
    sums = conv_sums(x, x_zero, w, w_zero, strides, pads, dilations, group)
    attributes = dict(strides=strides, pads=pads, dilations=dilations, group=group)
    if integer:
        case(f"conv_integer_{name}", "ConvInteger", 10,
             [("x", x), ("w", w), ("x_zero", x_zero), ("w_zero", w_zero)],
             [sums.astype(np.int32)], constants, dynamic, **attributes)
        return
    bias = RNG.integers(-2000, 2000, w.shape[0]).astype(np.int32) if bias else None
    x_scale, y_scale, y_zero = np.float32(0.03), np.float32(1.3), np.asarray(13, y_type)
    w_scale = scales(*((w.shape[0],) if per_channel else ()))
    row = [-1] + [1] * rank
    if bias is not None:
        sums = sums + bias.reshape(row)
    scale = x_scale * (w_scale.reshape(row) if per_channel else w_scale)
    case(f"qlinear_conv_{name}", "QLinearConv", 10,
         [("x", x), ("x_scale", x_scale), ("x_zero", x_zero), ("w", w), ("w_scale", w_scale),
          ("w_zero", w_zero), ("y_scale", y_scale), ("y_zero", y_zero), ("bias", bias)],
         [rescale(sums, scale, y_scale, y_zero)], constants, dynamic, **attributes)


def conv_cases():
    u8, i8 = np.uint8, np.int8
    border = [1, 1, 1, 1]
    conv_case("border", any_bytes(u8, 2, 3, 6, 7), any_bytes(i8, 5, 3, 3, 3), 77, 0, pads=border,
              bias=True)
    conv_case("signed", any_bytes(i8, 2, 3, 6, 7), any_bytes(i8, 5, 3, 3, 3), -7, 3, pads=border,
              y_type=i8)
    conv_case("unsigned_per_channel", any_bytes(u8, 1, 4, 6, 7), any_bytes(u8, 5, 4, 3, 3), 77,
              any_bytes(u8, 5), pads=[0, 1, 2, 0], per_channel=True, bias=True)
    conv_case("pointwise", any_bytes(u8, 2, 9, 5, 4), any_bytes(i8, 33, 9, 1, 1), 130, 0)
    conv_case("pointwise_stride", any_bytes(u8, 1, 9, 5, 6), any_bytes(i8, 3, 9, 1, 1), 130, 0,
              strides=[2, 3])
    conv_case("stride_dilation", any_bytes(u8, 1, 2, 11, 12), any_bytes(i8, 3, 2, 3, 2), 100, 0,
              strides=[2, 1], dilations=[1, 3], pads=border)
    conv_case("groups", any_bytes(u8, 1, 4, 6, 5), any_bytes(i8, 6, 2, 3, 3), 90, any_bytes(i8, 6),
              group=2, pads=border, per_channel=True, bias=True)
    conv_case("depthwise", any_bytes(u8, 2, 6, 7, 5), any_bytes(u8, 6, 1, 3, 3), 90, 128, group=6,
              pads=border, strides=[2, 1], per_channel=True, bias=True)
    conv_case("dynamic", any_bytes(u8, 2, 3, 6, 7), any_bytes(i8, 5, 3, 3, 3), 77, 4, pads=border,
              constants=(), dynamic=("x",), bias=True)
    conv_case("1d", any_bytes(u8, 2, 3, 9), any_bytes(i8, 5, 3, 3), 77, 0, pads=[2, 0])
    conv_case("3d", any_bytes(i8, 1, 2, 4, 5, 3), any_bytes(i8, 3, 2, 2, 3, 1), -77, 1,
              pads=[1, 0, 0, 0, 1, 1])
    conv_case("border", any_bytes(u8, 2, 3, 6, 7), any_bytes(u8, 5, 3, 3, 3), 77, 9, pads=border,
              integer=True)
    conv_case("no_zeros", any_bytes(u8, 2, 3, 6, 7), any_bytes(i8, 5, 3, 3, 3), pads=border,
              integer=True, constants=(), dynamic=("x",))
    conv_case("depthwise", any_bytes(i8, 2, 6, 7, 5), any_bytes(i8, 6, 1, 3, 2), 9, group=6,
              integer=True)


def write_cases():
    linear_cases()
    dynamic_case("positive", [[1, 2.5], [3, 7]])
    dynamic_case("negative", [-1, -2.5, -30])
    dynamic_case("zeros", np.zeros((2, 3)))
    dynamic_case("large", f32(30, 41), dynamic=("x",))
    product_cases()
    conv_cases()
    between_linears_cases()
    weights.write_cases()
    small_results.write_cases()


if __name__ == "__main__":
    case_file.main(write_cases)
