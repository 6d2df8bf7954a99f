"""Cases of elementwise ops, casts, constants, ops on shapes, and losses."""
import math

import numpy as np

import onnx_file
from case_file import case, cases, integers, reals


def _erf(x):
    return np.vectorize(math.erf)(x.astype(np.float64))


def _bits():
    for op, function in (("And", np.bitwise_and), ("Or", np.bitwise_or), ("Xor", np.bitwise_xor)):
        a = integers(f"a{op}", -1000, 1000, 3, 1, 4, dtype=np.int32)
        b = integers(f"b{op}", -1000, 1000, 2, 1, dtype=np.int32)
        cases(f"bitwise_{op.lower()}", 18, f"Bitwise{op}", {"a": a, "b": b}, [function(a, b)])
        a, b = (integers(f"{op}{i}", 0, 256, 11, dtype=np.uint8) for i in range(2))
        case(f"bitwise_{op.lower()}_u8", 18, f"Bitwise{op}", {"a": a, "b": b}, [function(a, b)])
    for dtype in (np.int8, np.uint16, np.int64):
        x = integers("not", 0, 100, 2, 5, dtype=dtype)
        case(f"bitwise_not_{np.dtype(dtype).name}", 18, "BitwiseNot", {"x": x}, [~x])


def _activations():
    x = reals("activation", 3, 7) * 3
    wide = x.astype(np.float64)
    exact = (0.5 * wide * (1 + _erf(wide / np.sqrt(2)))).astype(np.float32)
    inner = np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)
    by_tanh = (0.5 * wide * (1 + np.tanh(inner))).astype(np.float32)
    mish = (wide * np.tanh(np.log1p(np.exp(wide)))).astype(np.float32)
    cases("gelu", 20, "Gelu", {"x": x}, [exact])
    case("gelu_tanh", 20, "Gelu", {"x": x}, [by_tanh], approximate="tanh")
    for opset in (18, 22):
        case("mish" if opset == 18 else "mish_again", opset, "Mish", {"x": x}, [mish])
    half = x.astype(np.float16)
    wide = half.astype(np.float64)
    case("gelu_f16", 20, "Gelu", {"x": half},
         [(0.5 * wide * (1 + _erf(wide / np.sqrt(2)))).astype(np.float16)])
    wide = x.astype(np.float64)
    # Opset 22 permits more element types for the following ops.
    swish = (wide * np.clip(wide / 6 + 0.5, 0, 1)).astype(np.float32)
    case("hard_swish", 22, "HardSwish", {"x": x}, [swish])
    case("hard_sigmoid", 22, "HardSigmoid", {"x": x},
         [np.clip(wide * 0.3 + 0.4, 0, 1).astype(np.float32)], alpha=0.3, beta=0.4)
    elu = np.where(wide < 0, 1.5 * np.expm1(wide), wide).astype(np.float32)
    case("elu", 22, "Elu", {"x": x}, [elu], alpha=1.5)
    case("thresholded_relu", 22, "ThresholdedRelu", {"x": x}, [np.where(x > 0.5, x, 0)], alpha=0.5)
    case("softsign", 22, "Softsign", {"x": x}, [x / (1 + np.abs(x))])
    angle = np.arccos((x / 6).astype(np.float64)).astype(np.float32)
    case("acos", 22, "Acos", {"x": x / 6}, [angle])


def _bit_casts():
    codes = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
             "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13}
    special = [0, -0.0, 1.5, -3, 65504, np.inf, -np.inf]
    for one, other in (("float32", "int32"), ("float64", "uint64"), ("float16", "int16"),
                       ("int8", "uint8"), ("uint32", "float32"), ("int64", "float64"),
                       ("uint16", "float16"), ("int32", "uint32")):
        is_float = np.issubdtype(one, np.floating)
        x = np.array(special, one) if is_float else integers("bits", 0, 120, 7, dtype=one)
        cases(f"bit_cast_{one}_to_{other}", 26, "BitCast", {"x": x}, [x.view(other)],
              to=codes[other])
    bools = np.array([True, False])
    case("bit_cast_bool_to_uint8", 26, "BitCast", {"x": bools}, [bools.view(np.uint8)], to=2)
    case("bit_cast_uint8_to_bool", 26, "BitCast", {"x": bools.view(np.uint8)}, [bools], to=9)
    # Bits that are known at compile time.
    case("bit_cast_constant", 26, "BitCast", {}, [np.array([0, 0x3F800000], np.int32)],
         constants={"x": np.array([0, 1], np.float32)}, order=["x"], to=6)


def _tests_and_casts():
    half = np.array([1, np.nan, np.inf, -np.inf, 0, -2], np.float16)
    case("is_inf_f16", 20, "IsInf", {"x": half}, [np.isinf(half)])
    case("is_inf_positive", 20, "IsInf", {"x": half.astype(np.float64)},
         [half == np.inf], detect_negative=0)
    case("is_nan_f16", 20, "IsNaN", {"x": half}, [np.isnan(half)])
    x = np.array([-3.7, 2.5, 0, 100.2], np.float32)
    case("cast_saturate", 19, "Cast", {"x": x}, [x.astype(np.int32)], to=6, saturate=0)
    case("cast_like", 21, "CastLike", {"x": x, "like": np.zeros(1, np.float16)},
         [x.astype(np.float16)], saturate=1)
    for dtype in (np.bool_, np.uint8, np.float64):
        a, b = (integers(f"equal{i}", 0, 2, 3, 4).astype(dtype) for i in range(2))
        case(f"equal_{np.dtype(dtype).name}", 19, "Equal", {"a": a, "b": b}, [a == b])
    mask = np.ones((2, 3), bool)
    x = reals("dropout", 2, 3)
    case("dropout_mask", 22, "Dropout", {"x": x}, [x, mask])
    case("dropout_zero_ratio", 22, "Dropout", {"x": x}, [x, mask],
         constants={"ratio": np.float32(0), "training": np.bool_(True)})
    case("eye_like", 22, "EyeLike", {"x": np.zeros((3, 5), np.float16)},
         [np.eye(3, 5, 1, np.float16)], k=1)


def _shapes():
    sixteen = onnx_file.half_tensor([1.5], "value")
    case("constant_of_shape_f16", 20, "ConstantOfShape", {}, [np.full((2, 3), 1.5, np.float16)],
         constants={"shape": np.array([2, 3])}, value=sixteen)
    x = reals("reshape", 0, 3, 4)
    case("reshape_allowzero", 19, "Reshape", {"x": x}, [x.reshape(3, 4, 0)],
         constants={"shape": np.array([3, 4, 0])}, allowzero=1)
    x = reals("reshape", 2, 3, 4).astype(np.float16)
    case("reshape_zero_keeps", 21, "Reshape", {"x": x}, [x.reshape(2, 12)],
         constants={"shape": np.array([0, -1])})
    case("shape_slice", 21, "Shape", {"x": x}, [np.array([3, 4])], start=1)
    case("size", 21, "Size", {"x": x}, [np.array(24)])
    case("flatten", 21, "Flatten", {"x": x}, [x.reshape(6, 4)], axis=2)
    case("squeeze", 21, "Squeeze", {"x": x[:, :1]}, [x[:, 0]], constants={"axes": np.array([1])})
    case("unsqueeze", 21, "Unsqueeze", {"x": x}, [x[:, None, :, :, None]],
         constants={"axes": np.array([-1, 1])})
    case("transpose", 21, "Transpose", {"x": x}, [x.transpose(2, 0, 1)], perm=[2, 0, 1])
    case("identity", 21, "Identity", {"x": x}, [x])


def _losses():
    """Ops that ONNX defines as functions of other ops, at opsets newer than the function bodies."""
    x, labels = reals("loss", 3, 5, 2), integers("labels", 0, 5, 3, 2)
    wide = x.astype(np.float64)
    logs = (wide - np.log(np.exp(wide).sum(1, keepdims=True))).astype(np.float32)
    picked = -np.take_along_axis(logs, labels[:, None], 1)[:, 0]
    case("softmax_cross_entropy", 22, "SoftmaxCrossEntropyLoss", {"x": x, "labels": labels},
         [picked.mean()])
    case("negative_log_likelihood", 22, "NegativeLogLikelihoodLoss", {"x": logs, "labels": labels},
         [picked], reduction="none")


def write_cases():
    _bit_casts()
    _bits()
    _activations()
    _tests_and_casts()
    _shapes()
    _losses()
