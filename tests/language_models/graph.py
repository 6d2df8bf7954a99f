"""Collects the nodes, constants, inputs and outputs of one ONNX model."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "onnx_cases"))

import onnx_file  # noqa: E402

FLOAT, INT32, INT64, BOOL = 1, 6, 7, 9
MICROSOFT = "com.microsoft"
_IR_VERSIONS = {17: 8, 21: 10, 24: 12}


class Graph:
    def __init__(self, opset, weights):
        self.opset = opset
        self.weights = weights
        self.nodes, self.inputs, self.outputs = [], [], []
        self.input_names, self.output_names = [], []
        self.constants = {}
        self.domains = {}

    def input(self, name, element_type, *dims):
        if name not in self.input_names:
            self.input_names.append(name)
            self.inputs.append(onnx_file.value_info(name, element_type, dims))
        return name

    def output(self, name, value, *dims):
        self.op("Identity", value, into=[name])
        self.output_names.append(name)
        self.outputs.append(onnx_file.value_info(name, FLOAT, dims))

    def op(self, kind, *operands, outputs=1, into=None, domain="", **attributes):
        """Adds a node. An operand is the name of a value or an array. Returns the name of the
        result, or a list of names if the node has several."""
        if domain:
            self.domains[domain] = 1
        names = [value if isinstance(value, str) else self.constant(value) for value in operands]
        results = into or [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(onnx_file.node(kind, names, results, domain, **attributes))
        return results[0] if len(results) == 1 else results

    def constant(self, array):
        return self.initializer(f"constant_{len(self.constants)}", np.asarray(array))

    def initializer(self, name, array):
        self.constants[name] = array
        return name

    def integers(self, *values):
        return np.array(values, np.int64)

    def dim(self, value, axis):
        """A dimension as a scalar, as the PyTorch exporter writes it."""
        return self.op("Gather", self.op("Shape", value), np.int64(axis), axis=0)

    def shape(self, *parts):
        """A shape of scalar values and integers."""
        pieces = [self.op("Unsqueeze", part, self.integers(0)) if isinstance(part, str)
                  else self.integers(part) for part in parts]
        return self.op("Concat", *pieces, axis=0)

    def reshape(self, value, *parts):
        return self.op("Reshape", value, self.shape(*parts))

    def model(self, name):
        constants = [onnx_file.tensor(array, key) for key, array in self.constants.items()]
        graph = onnx_file.graph(self.nodes, name, self.inputs, self.outputs, constants)
        return onnx_file.model(graph, self.opset, _IR_VERSIONS[self.opset], "language_models",
                               self.domains)
