"""Converts a model to FLOAT16 as exporters do: weights and all values between the operators. Inputs
and outputs stay FLOAT, with a Cast."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

_MOST = np.float32(65504)


def _narrow(tensor):
    if tensor.data_type != TensorProto.FLOAT:
        return
    numbers = np.clip(numpy_helper.to_array(tensor), -_MOST, _MOST)
    tensor.CopyFrom(numpy_helper.from_array(numbers.astype(np.float16), tensor.name))


def _convert(graph):
    for tensor in graph.initializer:
        _narrow(tensor)
    for info in graph.value_info:
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.FLOAT16
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                _narrow(attribute.t)
            if attribute.HasField("g"):
                _convert(attribute.g)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16


def to_half(model):
    graph = model.graph
    _convert(graph)
    renamed = {}
    for value in graph.input:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            renamed[value.name] = value.name + "_f16"
    casts = [helper.make_node("Cast", [name], [narrow], to=TensorProto.FLOAT16)
             for name, narrow in renamed.items()]
    ends = []
    for value in graph.output:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            renamed[value.name] = value.name + "_f16"
            ends.append(helper.make_node("Cast", [value.name + "_f16"], [value.name],
                                         to=TensorProto.FLOAT))
    for node in graph.node:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                names[i] = renamed.get(name, name)
    nodes = casts + list(graph.node) + ends
    del graph.node[:]
    graph.node.extend(nodes)
    graph.name += "_f16"
    return model
