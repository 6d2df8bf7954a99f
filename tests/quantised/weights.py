"""Products with constant weights of 4-bit integers that DequantizeLinear reads. The reference is
computed in float64."""
import numpy as np

import case_file
import onnx_file


def _draws():
    """Variants: op, transposed weight, element type, block size (0: none), scale per column,
    zero points, depth, columns."""
    for op, transposed in (("MatMul", False), ("Gemm", False), ("Gemm", True)):
        for element in (onnx_file.INT4, onnx_file.UINT4):
            yield op, transposed, element, 32, True, True, 96, 37
            yield op, transposed, element, 16, True, False, 64, 40
            yield op, transposed, element, 0, True, True, 45, 33
            yield op, transposed, element, 0, False, False, 50, 8
            yield op, transposed, element, 32, True, True, 70, 9  # an incomplete block
            yield op, transposed, element, 6, True, True, 36, 5


def weight(rng, transposed, element, block, by_column, has_zero, depth, columns):
    """The integers, scales and zero points of DequantizeLinear and the weight that they denote,
    all as they are stored, and the axis."""
    least = -8 if element is onnx_file.INT4 else 0
    integers = rng.integers(least, least + 16, (depth, columns))
    blocks = -(-depth // block) if block else 1
    shape = (blocks, columns if by_column else 1)
    scales = rng.uniform(0.01, 0.1, shape).astype(np.float32)
    zeros = rng.integers(least, least + 16, shape) * has_zero
    rows = np.arange(depth) // (block or depth)
    w = (integers - zeros[rows]) * scales[rows].astype(np.float64)
    stored = [x.T if transposed else x for x in (integers, scales, zeros, w)]
    if not block:  # one parameter, or one for each column
        stored[1:3] = [x.reshape(-1) if by_column else x.reshape(()) for x in stored[1:3]]
    axis = 1 if bool(block) == transposed else 0
    return [np.ascontiguousarray(x) for x in stored], axis


def write_cases():
    for number, (op, transposed, element, block, *kind) in enumerate(_draws()):
        rng = np.random.default_rng(1000 + number)
        (integers, scales, zeros, w), axis = weight(rng, transposed, element, block, *kind)
        for rows in (1, 6):
            a = rng.standard_normal((rows, kind[2])).astype(np.float32)
            constants = {"q": integers.astype(element), "s": scales}
            if kind[1]:
                constants["z"] = zeros.astype(element)
            nodes = [onnx_file.node("DequantizeLinear", list(constants), ["w"], axis=axis,
                                    block_size=block),
                     onnx_file.node(op, ["a", "w"], ["y"],
                                    **({"transB": int(transposed)} if op == "Gemm" else {}))]
            y = (a.astype(np.float64) @ (w.T if transposed else w)).astype(np.float32)
            type_of = lambda name, array: onnx_file.value_info(  # noqa: E731
                name, onnx_file.FLOAT, ["m", array.shape[1]])
            case_file.graph_case(f"weight_{number}_{rows}", 21, nodes, {"a": a}, {"y": y},
                                 constants, [type_of("a", a)], [type_of("y", y)], ir_version=10)
