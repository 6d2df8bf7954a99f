"""Values of 4-bit integers through nested graphs. DequantizeLinear accepts them only with a zero
point of the same element type, which is known only if the results of If, Loop and Scan keep it."""
import numpy as np

import case_file
import onnx_file


def _write(name, nodes, inputs, y, constants):
    types = [onnx_file.value_info(key, onnx_file.tensor_type(array), array.shape)
             for key, array in inputs.items()]
    nodes.append(onnx_file.node("DequantizeLinear", ["q", "s", "z"], ["y"]))
    case_file.graph_case(f"small_{name}", 21, nodes, inputs, {"y": y},
                         {"s": np.float32(0.5), **constants}, types,
                         [onnx_file.value_info("y", onnx_file.FLOAT, y.shape)], ir_version=10)


def _type(name, element, shape=()):
    return onnx_file.value_info(name, element, shape)


def _identity(source, result):
    return onnx_file.node("Identity", [source], [result])


def write_cases():
    rng = np.random.default_rng(5)
    for element, least in ((onnx_file.INT4, -8), (onnx_file.UINT4, 0)):
        code = onnx_file.tensor_type(np.zeros(1, element))
        kind = "int4" if least else "uint4"
        a, b = (rng.integers(least, least + 16, (3, 4)).astype(element) for _ in range(2))
        zero = np.asarray(least + 5).astype(element)
        expected = lambda q: ((q.astype(np.int32) - (least + 5)) * 0.5).astype(np.float32)  # noqa: E731
        branches = {f"{part}_branch": onnx_file.graph(
            [_identity(source, part)], part, [], [_type(part, code, (3, 4))])
            for part, source in (("then", "a"), ("else", "b"))}
        for condition in (True, False):
            _write(f"if_{kind}_{condition}".lower(),
                   [onnx_file.node("If", ["c"], ["q"], **branches)], {"c": np.asarray(condition)},
                   expected(a if condition else b), {"a": a, "b": b, "z": zero})
        # Carries a, and gathers it.
        body = onnx_file.graph(
            [_identity("more", "more_out"), _identity("v", "v_out"), _identity("v", "part")],
            "body", [_type("i", 7), _type("more", 9), _type("v", code, (3, 4))],
            [_type("more_out", 9), _type("v_out", code, (3, 4)), _type("part", code, (3, 4))])
        _write(f"loop_carried_{kind}",
               [onnx_file.node("Loop", ["n", "", "a"], ["q", "parts"], body=body)],
               {"n": np.asarray(2)}, expected(a), {"a": a, "z": zero})
        _write(f"loop_gathered_{kind}",
               [onnx_file.node("Loop", ["n", "", "a"], ["last", "q"], body=body)],
               {"n": np.asarray(2)}, expected(np.stack([a, a])), {"a": a, "z": zero})
        # The zero point of the inner graph is that of its input's type.
        body = onnx_file.graph(
            [onnx_file.node("Transpose", ["row"], ["row_out"]),
             onnx_file.node("DequantizeLinear", ["row", "s", "z"], ["wide"])],
            "body", [_type("row", code, (4,))],
            [_type("row_out", code, (4,)), _type("wide", onnx_file.FLOAT, (4,))])
        _write(f"scan_{kind}",
               [onnx_file.node("Scan", ["a"], ["q", "wide"], body=body, num_scan_inputs=1)],
               {}, expected(a), {"a": a, "z": zero})
