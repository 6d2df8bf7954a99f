"""Quantises models to 8 bits, with the operators that ONNX Runtime's quantisation tools write.

Static: each input and output of a quantised operator is rounded by QuantizeLinear (UINT8, one scale
and zero point, for the range of its values in a sample) and DequantizeLinear; weights are INT8 with
a scale for each output channel, biases INT32. Batch normalisations are part of the convolutions.

Dynamic: products by constant matrices are MatMulInteger of a matrix that DynamicQuantizeLinear
rounds, and of INT8 weights with one scale.
"""
import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

from evaluate import evaluate

_LEAST_RANGE = np.float32(1e-6)


class _Rewriter:
    """Builds the new nodes and initializers of a graph."""

    def __init__(self, model):
        self.model = model
        self.graph = model.graph
        self.arrays = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer}
        self.nodes = []
        self.added = []

    def initializer(self, name, array):
        self.added.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def node(self, op_type, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=output + "_node",
                                           **attributes))
        return output

    def finish(self, suffix):
        graph = self.graph
        used = {name for node in self.nodes for name in node.input}
        kept = [t for t in graph.initializer if t.name in used]
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(self.nodes)
        graph.initializer.extend(kept + self.added)
        graph.name += suffix
        checker.check_model(self.model)
        return self.model


def _symmetric(weights, axis=None):
    """INT8 weights and their scale: one, or one for each index of `axis`."""
    axes = tuple(i for i in range(weights.ndim) if i != axis) if axis is not None else None
    most = np.maximum(np.abs(weights).max(axis=axes, keepdims=axis is not None), _LEAST_RANGE)
    scale = (most / np.float32(127)).astype(np.float32)
    numbers = np.rint(weights / scale).astype(np.int8)
    return numbers, scale if axis is None else scale.reshape(-1)


def _range(values):
    """The scale and zero point of UINT8 values."""
    low, high = min(values.min(), 0), max(values.max(), _LEAST_RANGE)
    scale = np.float32((high - low) / 255)
    return scale, np.uint8(np.rint(-low / scale))


class _Static(_Rewriter):
    def __init__(self, model, sample):
        super().__init__(model)
        self.values = evaluate(model.graph, sample)
        self.rounded = {}  # dequantised values by name

    def merge_norms(self):
        """Makes batch normalisations part of the convolutions before them, and a Relu or Clip from
        0 to the largest value part of the rounding after it."""
        nodes, result = list(self.graph.node), []
        made = {name: node for node in nodes for name in node.output}
        for node in nodes:
            if node.op_type == "BatchNormalization":
                conv = made[node.input[0]]
                scale, shift, mean, variance = (self.arrays[name] for name in node.input[1:])
                multiplier = scale / np.sqrt(variance + np.float32(1e-5))
                name = conv.input[1]
                self.arrays[name] = self.arrays[name] * multiplier.reshape(-1, 1, 1, 1)
                self.arrays[name + ".bias"] = shift - mean * multiplier
                del conv.input[2:]
                conv.input.append(name + ".bias")
                conv.output[0] = node.output[0]
                made[node.output[0]] = conv
            elif node.op_type in ("Relu", "Clip") and node.input[0] in made:
                before = made[node.input[0]]
                before.output[0] = node.output[0]
                made[node.output[0]] = before
            elif node.op_type != "Constant" or self.is_needed(node, nodes):
                result.append(node)
        return result

    @staticmethod
    def is_needed(constant, nodes):
        return any(constant.output[0] in node.input and node.op_type != "Clip" for node in nodes)

    def weights(self, name, axis):
        if name not in self.rounded:
            numbers, scale = _symmetric(self.arrays[name], axis)
            self.rounded[name] = self.node(
                "DequantizeLinear",
                [self.initializer(name + "_quantized", numbers),
                 self.initializer(name + "_scale", scale),
                 self.initializer(name + "_zero_point", np.zeros(len(scale), np.int8))],
                name + "_dequantized", axis=axis)
            self.rounded[name, "scale"] = scale
        return self.rounded[name]

    def activation(self, name):
        if name not in self.rounded:
            scale, zero = _range(self.values[name])
            parameters = [self.initializer(name + "_scale", scale),
                          self.initializer(name + "_zero_point", zero)]
            bytes_name = self.node("QuantizeLinear", [name] + parameters, name + "_quantized")
            self.rounded[name] = self.node("DequantizeLinear", [bytes_name] + parameters,
                                           name + "_dequantized")
            self.rounded[name, "scale"] = scale
        return self.rounded[name]

    def bias(self, name, x, w):
        scale = self.rounded[x, "scale"] * self.rounded[w, "scale"]
        numbers = np.rint(self.arrays[name] / scale).astype(np.int32)
        parameters = [self.initializer(name + "_quantized", numbers),
                      self.initializer(name + "_scale", scale.astype(np.float32)),
                      self.initializer(name + "_zero_point", np.zeros(len(scale), np.int32))]
        return self.node("DequantizeLinear", parameters, name + "_dequantized", axis=0)

    def quantise(self, op_types):
        outputs = {value.name for value in self.graph.output}
        for node in self.merge_norms():
            names = list(node.input)
            if node.op_type in op_types:
                axis = {"Conv": 0, "Gemm": 0, "MatMul": 1}.get(node.op_type)
                has_bias = axis == 0 and len(names) > 2
                for i, name in enumerate(names[:2] if has_bias else names):
                    is_weight = name in self.arrays
                    node.input[i] = self.weights(name, axis) if is_weight else self.activation(name)
                if has_bias:
                    node.input[2] = self.bias(names[2], names[0], names[1])
            self.nodes.append(node)
            if node.op_type in op_types and node.output[0] not in outputs:
                self.activation(node.output[0])
        # Values that are not quantised operators' inputs read the rounded ones as well.
        for node in self.nodes:
            for i, name in enumerate(node.input):
                if name in self.rounded and node.op_type != "QuantizeLinear":
                    node.input[i] = self.rounded[name]
        return self.finish("_static")


def _to_static(model, sample, op_types):
    """`sample`: an array for each input of the model. `op_types`: the quantised operators."""
    opset = model.opset_import[0]
    if opset.version < 13:
        op_types_of_model = {node.op_type for node in model.graph.node}
        assert not {"Unsqueeze", "Squeeze", "Split", "Softmax"} & op_types_of_model
        opset.version = 13  # the first one with a scale for each channel
    return _Static(model, sample).quantise(op_types)


def image_network(model):
    random = np.random.Generator(np.random.PCG64(5))
    sample = {"input": random.standard_normal((2, 3, 96, 96), dtype=np.float32)}
    return _to_static(model, sample, {"Conv", "Add", "MaxPool", "GlobalAveragePool", "Gemm"})


def encoder(model):
    random = np.random.Generator(np.random.PCG64(6))
    ids = random.integers(0, 30000, (2, 16))
    sample = {"input_ids": ids, "attention_mask": np.ones_like(ids),
              "token_type_ids": np.zeros_like(ids)}
    return _to_static(model, sample, {"MatMul"})


def to_dynamic(model):
    r = _Rewriter(model)
    rounded = {}
    for node in model.graph.node:
        if node.op_type != "MatMul" or node.input[1] not in r.arrays:
            r.nodes.append(node)
            continue
        x, w = node.input
        if x not in rounded:
            rounded[x] = [x + "_quantized", x + "_scale", x + "_zero_point"]
            r.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], rounded[x],
                                            name=x + "_QuantizeLinear"))
        numbers, scale = _symmetric(r.arrays[w])
        weight = r.initializer(w + "_quantized", numbers)
        zero = r.initializer(w + "_zero_point", np.int8(0))
        own = r.initializer(w + "_scale", scale)
        sums = r.node("MatMulInteger", [rounded[x][0], weight, rounded[x][2], zero], w + "_sums")
        scales = r.node("Mul", [rounded[x][1], own], w + "_scales")
        r.node("Mul", [r.node("Cast", [sums], w + "_cast", to=TensorProto.FLOAT), scales],
               node.output[0])
    return r.finish("_dynamic")
