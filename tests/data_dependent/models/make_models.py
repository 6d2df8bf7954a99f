#!/usr/bin/python3
"""Writes the ONNX files of sizes_test.cpp and operands_test.cpp (python3-onnx 1.12).

The models have data-dependent sizes, or inputs for operands that are constants in most models. The
files are committed, so that tests run without Python.
"""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))
F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, dtype, *shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, initializers=(), opset=17):
    graph = helper.make_graph(nodes, name, inputs, outputs, [
        numpy_helper.from_array(array, key) for key, array in initializers
    ])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    model.producer_name = "scopevm tests"
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=op.lower(), **attributes)


save("nonzero", [node("NonZero", ["x"], ["y"])], [value("x", F32, "n", "m")],
     [value("y", I64, 2, None)])
save("compress", [node("Compress", ["x", "c"], ["y"], axis=1)],
     [value("x", F32, "n", "m"), value("c", BOOL, "k")], [value("y", F32, None, None)])
save("unique", [node("Unique", ["x"], ["y", "first", "group", "counts"], sorted=0)],
     [value("x", F32, "n")], [value("y", F32, None), value("first", I64, None),
                              value("group", I64, None), value("counts", I64, None)])
save("suppression", [node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["y"])],
     [value("boxes", F32, "b", "n", 4), value("scores", F32, "b", "c", "n"), value("most", I64, 1),
      value("iou", F32, 1), value("least", F32, 1)], [value("y", I64, None, 3)])
for name, dtype in (("range_f32", F32), ("range_i64", I64)):
    save(name, [node("Range", ["start", "limit", "delta"], ["y"])],
         [value(key, dtype) for key in ("start", "limit", "delta")], [value("y", dtype, None)])

# The distances of start and limit exceed 64 bits.
extremes = {"least": -2**63, "greatest": 2**63 - 1, "quarter": 2**62, "minus_quarter": -2**62,
            "eighth": 2**61, "ten": 10, "zero": 0}
save("range_extremes", [
    node("Range", ["start", "greatest", "quarter"], ["from_start"]),
    node("Range", ["least", "greatest", "quarter"], ["quarters"]),
    node("Range", ["ten", "zero", "least"], ["one"]),
    node("Range", ["minus_quarter", "quarter", "eighth"], ["eighths"]),
], [value("start", I64)], [value(key, I64, None)
                           for key in ("from_start", "quarters", "one", "eighths")],
     [(key, np.int64(number)) for key, number in extremes.items()])

# Doubles the elements above 0 and adds 0, 1, 2, ... to them. Two sizes are data-dependent, so the
# function has several segments.
save("positive", [
    node("Greater", ["x", "zero"], ["is_positive"]),
    node("NonZero", ["is_positive"], ["at"]),
    node("Transpose", ["at"], ["places"], perm=[1, 0]),
    node("GatherND", ["x", "places"], ["kept"]),
    node("Add", ["kept", "kept"], ["doubled"]),
    node("Size", ["doubled"], ["size"]),
    node("Range", ["start", "size", "one"], ["range"]),
    node("Cast", ["range"], ["steps"], to=F32),
    node("Add", ["doubled", "steps"], ["y"]),
], [value("x", F32, "n")], [value("y", F32, None)],
     [("zero", np.float32(0)), ("start", np.int64(0)), ("one", np.int64(1))])

bounds = [value("x", I64, "n"), value("starts", I64, 1), value("ends", I64, 1)]
save("slice_bounds", [
    node("Slice", ["x", "starts", "ends", "axis", "two"], ["forward"]),
    node("Slice", ["x", "starts", "ends", "axis", "minus_one"], ["backward"]),
], bounds, [value("forward", I64, None), value("backward", I64, None)],
     [("axis", np.array([0])), ("two", np.array([2])), ("minus_one", np.array([-1]))])
save("slice_all", [node("Slice", ["x", "starts", "ends", "axes", "steps"], ["y"])],
     bounds + [value("axes", I64, 1), value("steps", I64, 1)], [value("y", I64, None)])
save("slice_axes", [node("Slice", ["x", "starts", "ends", "axes"], ["y"])],
     [value("x", F32, "n", "m"), value("starts", I64, 1), value("ends", I64, 1),
      value("axes", I64, 1)], [value("y", F32, None, None)])

save("reduce", [
    node("ReduceSum", ["x", "axes"], ["kept"], keepdims=1),
    node("ReduceSum", ["x", "axes"], ["gone"], keepdims=0),
    node("ReduceSum", ["x", "axes"], ["kept_again"], keepdims=1),
], [value("x", F32, "a", "b", "c"), value("axes", I64, 2)],
     [value("kept", F32, None, None, None), value("gone", F32, None),
      value("kept_again", F32, None, None, None)])
save("squeeze", [node("Squeeze", ["x", "axes"], ["y"])],
     [value("x", F32, "a", "b", "c"), value("axes", I64, 1)], [value("y", F32, None, None)])
save("squeeze_ones", [node("Squeeze", ["x"], ["y"])], [value("x", F32, 1, "n", 1)],
     [value("y", F32, None)])
save("unsqueeze", [node("Unsqueeze", ["x", "axes"], ["y"])],
     [value("x", F32, "a", "b"), value("axes", I64, 2)],
     [value("y", F32, None, None, None, None)])
save("cumsum", [node("CumSum", ["x", "axis"], ["y"])],
     [value("x", F32, "a", "b"), value("axis", I64)], [value("y", F32, "a", "b")])
save("top_k", [node("TopK", ["x", "k"], ["y", "at"])], [value("x", F32, "n"), value("k", I64, 1)],
     [value("y", F32, None), value("at", I64, None)])
save("split", [node("Split", ["x", "sizes"], ["a", "b"])],
     [value("x", F32, "n"), value("sizes", I64, 2)],
     [value("a", F32, None), value("b", F32, None)])
save("split_equal", [node("Split", ["x"], ["a", "b"])], [value("x", F32, "n")],
     [value("a", F32, None), value("b", F32, None)])
save("pad_axes", [node("Pad", ["x", "pads", "", "axes"], ["y"])],
     [value("x", F32, "n", "m"), value("pads", I64, 2), value("axes", I64, 1)],
     [value("y", F32, None, None)], opset=18)
save("trilu", [node("Trilu", ["x", "k"], ["y"], upper=1)],
     [value("x", F32, "n", "m"), value("k", I64)], [value("y", F32, "n", "m")])
save("trilu_of_dims", [node("Shape", ["d"], ["k"]), node("Trilu", ["x", "k"], ["y"], upper=1)],
     [value("x", F32, "n", "m"), value("d", F32, "k")], [value("y", F32, "n", "m")])
save("one_hot", [node("OneHot", ["x", "depth", "values"], ["y"])],
     [value("x", I64, "n"), value("depth", F32), value("values", F32, 2)],
     [value("y", F32, "n", None)])
