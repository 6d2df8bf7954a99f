"""Writes a conformance case: a folder with model.onnx and test_data_set_0/{input,output}_N.pb.

Only protobuf messages are built; nothing of the onnx package (1.12) that would have to know the
opset sees the model.
"""
import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

CASES = pathlib.Path(__file__).parent / "cases"


def _value_info(name, array, prefix=""):
    shape = [f"{prefix}{axis}" if prefix else dim for axis, dim in enumerate(array.shape)]
    return helper.make_tensor_value_info(name, NP_TYPE_TO_TENSOR_TYPE[array.dtype], shape)


def _write(path, message):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(message.SerializeToString())


def case(name, op, opset, inputs, outputs, constants=(), dynamic=(), **attributes):
    """One node. `inputs`: (name, array) in the node's order, with None for an absent one.
    `constants` names inputs that are initializers, `dynamic` those whose dims are symbols."""
    node = helper.make_node(op, [key if array is not None else "" for key, array in inputs],
                            [f"y{i}" for i in range(len(outputs))], **attributes)
    given = [(key, array) for key, array in inputs if array is not None]
    graph_case(name, [node], opset, given, outputs, constants, dynamic)


def graph_case(name, nodes, opset, inputs, outputs, constants=(), dynamic=()):
    """The same for nodes, whose results are y0, y1, ..."""
    given = [(key, np.asarray(array)) for key, array in inputs]
    fed = [(key, array) for key, array in given if key not in constants]
    results = [(f"y{i}", np.asarray(array)) for i, array in enumerate(outputs)]
    graph = helper.make_graph(
        nodes, name,
        [_value_info(key, array, key + "_" if key in dynamic else "") for key, array in fed],
        [_value_info(key, array, key + "_" if dynamic else "") for key, array in results],
        [numpy_helper.from_array(array, key) for key, array in given if key in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version, model.producer_name = 8, "scopevm tests"
    folder = CASES / name
    _write(folder / "model.onnx", model)
    for stem, tensors in (("input", fed), ("output", results)):
        for i, (key, array) in enumerate(tensors):
            _write(folder / "test_data_set_0" / f"{stem}_{i}.pb", numpy_helper.from_array(array, key))
