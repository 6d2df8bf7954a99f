"""Prints the contents of an ONNX file: opset, inputs, outputs, initializers and op counts.

    python3 tools/models/describe.py model.onnx... [--nodes]

--nodes also prints each node.
"""
import collections
import sys

import onnx
from onnx import helper, numpy_helper


def type_text(value):
    """Returns the type with the model's names of dims: `float[n,3,224,224]`."""
    tensor = value.type.tensor_type
    dtype = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
    if not tensor.HasField("shape"):
        return dtype + "[unknown rank]"
    dims = [d.dim_param or (str(d.dim_value) if d.HasField("dim_value") else "?")
            for d in tensor.shape.dim]
    return f"{dtype}[{','.join(dims)}]"


def all_nodes(graph):
    """Yields every node of the graph and of the graphs in attributes of its nodes."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from all_nodes(attribute.g)


def attribute_text(attribute):
    value = helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        array = numpy_helper.to_array(value)
        value = array.tolist() if array.size <= 8 else f"{array.dtype}{list(array.shape)}"
    elif isinstance(value, onnx.GraphProto):
        value = f"graph of {len(value.node)}"
    elif isinstance(value, bytes):
        value = value.decode()
    return f"{attribute.name}={value}"


def describe(path, with_nodes):
    model = onnx.load(path)
    graph = model.graph
    opsets = ", ".join(f"{o.domain or 'ai.onnx'} {o.version}" for o in model.opset_import)
    nodes = list(all_nodes(graph))
    initializers = {t.name for t in graph.initializer}
    print(f"{path}: opset {opsets}; {len(nodes)} nodes; producer {model.producer_name}")
    for value in graph.input:
        if value.name not in initializers:
            print(f"  input  {value.name}: {type_text(value)}")
    for value in graph.output:
        print(f"  output {value.name}: {type_text(value)}")
    listed = sum(1 for value in graph.input if value.name in initializers)
    constants = sum(1 for node in nodes if node.op_type == "Constant")
    print(f"  {len(initializers)} initializers ({listed} of them also listed as inputs), "
          f"{constants} Constant nodes")
    counts = collections.Counter(node.op_type for node in nodes)
    print("  ops: " + ", ".join(f"{op} {n}" for op, n in sorted(counts.items())))
    if with_nodes:
        for node in nodes:
            attributes = ", ".join(attribute_text(a) for a in node.attribute)
            print(f"    {', '.join(node.output)} = {node.op_type}({', '.join(node.input)}) "
                  f"{{{attributes}}} \"{node.name}\"")


if __name__ == "__main__":
    for model_path in [a for a in sys.argv[1:] if a != "--nodes"]:
        describe(model_path, "--nodes" in sys.argv)
