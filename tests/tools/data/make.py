"""Writes the small models and arrays that are inputs of the command tests.

    /usr/bin/python3 tests/tools/data/make.py        (python3-onnx, python3-numpy)
"""
import pathlib

import numpy as np
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).parent


def save(name, nodes, inputs, outputs, opset=13):
    """inputs and outputs: {name: dims}, all float."""
    value = lambda item: helper.make_tensor_value_info(item[0], TensorProto.FLOAT, item[1])
    graph = helper.make_graph(nodes, name, list(map(value, inputs.items())),
                              list(map(value, outputs.items())))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 7
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


save("join", [helper.make_node("Concat", ["x", "y"], ["z"], "join_1", axis=1)],
     {"x": ["n", 4], "y": ["n", 3]}, {"z": ["n", 7]})
save("unknown_op", [helper.make_node("Frobnicate", ["x"], ["y"], "frob_7")],
     {"x": ["n", 4]}, {"y": ["n", 4]})
save("unsupported_op", [helper.make_node("ImageDecoder", ["x"], ["y"], "image_3")],
     {"x": ["n"]}, {"y": ["h", "w", 3]}, opset=20)
save("undefined_value", [helper.make_node("Relu", ["nowhere"], ["y"], "relu_2")],
     {"x": ["n", 4]}, {"y": ["n", 4]})
save("bad_shape", [helper.make_node("MatMul", ["x", "w"], ["y"], "product_5")],
     {"x": ["n", 4], "w": [5, 6]}, {"y": ["n", 6]})
np.save(FOLDER / "integers.npy", np.zeros((2, 1, 8, 8), np.int64))
np.save(FOLDER / "rank3.npy", np.zeros((1, 8, 8), np.float32))
np.save(FOLDER / "wide.npy", np.zeros((2, 1, 8, 9), np.float32))
np.save(FOLDER / "none.npy", np.zeros((2, 1, 0, 8), np.float32))
np.save(FOLDER / "x_2x4.npy", np.ones((2, 4), np.float32))
np.save(FOLDER / "y_3x3.npy", np.ones((3, 3), np.float32))
np.save(FOLDER / "y_2x3.npy", np.full((2, 3), 2, np.float32))
np.save(FOLDER / "fortran.npy", np.asfortranarray(np.ones((2, 4), np.float32)))
(FOLDER / "not_npy.npy").write_text("this is not an array\n")
