"""Builds ONNX graphs as exporters write them: one call per node, numbered names, and weights from a
seeded generator, so that a model has the same bytes on every machine.

The networks are defined in convnets.py, bert.py, gpt2.py and lstm.py; generate.py writes them to
files.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64
BOOL = TensorProto.BOOL


class GraphBuilder:
    """Collects nodes, initializers, inputs and outputs of one graph."""

    def __init__(self, name, opset, seed, prefix=""):
        self.name = name
        # The prefix of generated names. In ONNX, the names of a nested graph must differ from those
        # of its parent.
        self.prefix = prefix
        self.opset = opset
        self.random = np.random.Generator(np.random.PCG64(seed))
        self.nodes = []
        self.initializers = []
        self.inputs = []
        self.outputs = []
        self.counts = {}

    def unique(self, stem):
        number = self.counts.get(stem, 0)
        self.counts[stem] = number + 1
        return f"{self.prefix}{stem}_{number}"

    def input(self, name, dtype, dims):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def output(self, name, value, dtype, dims):
        """Makes `value` an output: renames it to `name` in the nodes that write and read it."""
        for node in self.nodes:
            for i, made in enumerate(node.output):
                if made == value:
                    node.output[i] = name
            for i, used in enumerate(node.input):
                if used == value:
                    node.input[i] = name
        self.outputs.append(helper.make_tensor_value_info(name, dtype, dims))

    def op(self, op_type, *inputs, outputs=1, **attributes):
        """Adds a node. Returns its output's name, or a list of names if it has several."""
        name = self.unique(op_type)
        made = [f"{name}_out" if outputs == 1 else f"{name}_out{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, list(inputs), made, name=name, **attributes))
        return made[0] if outputs == 1 else made

    def constant(self, value, dtype=np.float32):
        """A Constant node, as exporters write small operands."""
        tensor = numpy_helper.from_array(np.asarray(value, dtype=dtype))
        return self.op("Constant", value=tensor)

    def initializer(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def normal(self, name, shape, std, mean=0.0):
        values = self.random.standard_normal(shape, dtype=np.float32)
        return self.initializer(name, values * np.float32(std) + np.float32(mean))

    def unsqueeze(self, value, axis):
        """Unsqueeze: the axis is an input from opset 13 on, an attribute before."""
        if self.opset >= 13:
            return self.op("Unsqueeze", value, self.constant([axis], np.int64))
        return self.op("Unsqueeze", value, axes=[axis])

    def squeeze(self, value, axis):
        if self.opset >= 13:
            return self.op("Squeeze", value, self.constant([axis], np.int64))
        return self.op("Squeeze", value, axes=[axis])

    def split(self, value, sizes, axis):
        if self.opset >= 13:
            return self.op("Split", value, self.constant(sizes, np.int64), outputs=len(sizes),
                           axis=axis)
        return self.op("Split", value, outputs=len(sizes), axis=axis, split=sizes)

    def dim(self, value, axis):
        """One dimension of `value` as a scalar: Shape and Gather, as the PyTorch exporter writes it."""
        return self.op("Gather", self.op("Shape", value), self.constant(axis, np.int64), axis=0)

    def shape_of(self, *parts):
        """Concatenates scalar values (names) and integers to a 1-D shape, with Unsqueeze and
        Concat."""
        pieces = [self.unsqueeze(p, 0) if isinstance(p, str) else self.constant([p], np.int64)
                  for p in parts]
        return self.op("Concat", *pieces, axis=0)

    def linear(self, value, name, fan_in, fan_out):
        """MatMul and Add. The scale of the weights preserves the variance of values."""
        weight = self.normal(f"{name}.weight", (fan_in, fan_out), fan_in ** -0.5)
        bias = self.normal(f"{name}.bias", (fan_out,), 0.05)
        return self.op("Add", self.op("MatMul", value, weight), bias)

    def layer_norm(self, value, name, width):
        """LayerNorm as the elementwise ops and reductions that exporters emit below opset 17."""
        mean = self.op("ReduceMean", value, axes=[-1])
        centred = self.op("Sub", value, mean)
        square = self.op("Pow", centred, self.constant(2.0))
        variance = self.op("ReduceMean", square, axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", variance, self.constant(1e-5)))
        normal = self.op("Div", centred, deviation)
        scaled = self.op("Mul", normal, self.normal(f"{name}.weight", (width,), 0.1, 1.0))
        return self.op("Add", scaled, self.normal(f"{name}.bias", (width,), 0.1))

    def graph(self):
        return helper.make_graph(self.nodes, self.name, self.inputs, self.outputs,
                                 initializer=self.initializers)

    def model(self):
        model = helper.make_model(self.graph(), producer_name="scopevm-models",
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 7
        if model.ByteSize() < 2 ** 30:
            onnx.checker.check_model(model)
        return model
