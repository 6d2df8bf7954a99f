#!/usr/bin/python3
"""Writes the ONNX files of random_ops_test.cpp (python3-onnx 1.12). They are committed, so that
tests run without Python.
"""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))
F32, F64, F16, I64, BOOL = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16,
                            TensorProto.INT64, TensorProto.BOOL)


def value(name, dtype, *shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, initializers=(), opset=17, functions=(), domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, [
        numpy_helper.from_array(array, key) for key, array in initializers
    ])
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(key, 1) for key in domains]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)
    model.producer_name = "scopevm tests"
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=outputs[0] + "_node", **attributes)


save("distributions", [
    node("RandomNormalLike", ["x"], ["normal"], mean=2.0, scale=3.0),
    node("RandomUniformLike", ["x"], ["uniform"], low=-1.0, high=3.0),
    node("RandomUniformLike", ["x"], ["uniform_f64"], dtype=F64),
    node("RandomNormalLike", ["x"], ["normal_f16"], dtype=F16),
    node("Bernoulli", ["x"], ["bernoulli"], dtype=I64),
    node("Multinomial", ["logits"], ["classes"], sample_size=20000, dtype=I64),
], [value("x", F32, "n", "m"), value("logits", F32, "b", "c")],
     [value("normal", F32, "n", "m"), value("uniform", F32, "n", "m"),
      value("uniform_f64", F64, "n", "m"), value("normal_f16", F16, "n", "m"),
      value("bernoulli", I64, "n", "m"), value("classes", I64, "b", 20000)])

# Equal attributes `seed` give equal numbers. Without the attribute, the numbers differ.
save("streams", [
    node("RandomNormal", [], ["a"], shape=[2, 3], seed=5.0),
    node("RandomNormal", [], ["b"], shape=[2, 3], seed=5.0),
    node("RandomNormal", [], ["c"], shape=[2, 3]),
    node("RandomNormal", [], ["d"], shape=[2, 3]),
    node("RandomNormal", [], ["e"], shape=[1, 3], seed=5.0),
], [], [value(name, F32, None, 3) for name in "abcde"])

# Two loops with equal bodies, and a function that is called twice.
body = helper.make_graph(
    [node("RandomUniform", [], ["u"], shape=[2]), node("Identity", ["condition"], ["next"])],
    "body", [value("i", I64), value("condition", BOOL)], [value("next", BOOL), value("u", F32, 2)])
draw = helper.make_function("test", "Draw", ["x"], ["y"],
                            [node("RandomUniformLike", ["x"], ["y"])],
                            [helper.make_opsetid("", 17)])
save("iterations", [
    node("Loop", ["count", ""], ["first"], body=body),
    node("Loop", ["count", ""], ["second"], body=body),
    node("Draw", ["x"], ["third"], domain="test"),
    node("Draw", ["x"], ["fourth"], domain="test"),
], [value("count", I64), value("x", F32, 2)],
     [value("first", F32, None, 2), value("second", F32, None, 2), value("third", F32, 2),
      value("fourth", F32, 2)], functions=[draw], domains=["test"])

# Bernoulli is an operator since opset 15.
draw = helper.make_function("test", "Draw", ["x"], ["y"], [node("Bernoulli", ["x"], ["y"])],
                            [helper.make_opsetid("", 15)])
save("function_of_another_opset", [node("Draw", ["x"], ["y"], domain="test")],
     [value("x", F32, "n")], [value("y", F32, "n")], opset=13, functions=[draw], domains=["test"])

inner = helper.make_graph(
    [node("RandomUniform", [], ["v"], shape=[1]), node("Identity", ["go"], ["more"])],
    "inner", [value("j", I64), value("go", BOOL)], [value("more", BOOL), value("v", F32, 1)])
outer = helper.make_graph(
    [node("Loop", ["count", ""], ["w"], body=inner), node("Identity", ["condition"], ["next"])],
    "outer", [value("i", I64), value("condition", BOOL)],
    [value("next", BOOL), value("w", F32, None, 1)])
save("nested_iterations", [node("Loop", ["count", ""], ["y"], body=outer)],
     [value("count", I64)], [value("y", F32, None, None, 1)])

for name, constants in (("dropout", []), ("dropout_training", [("training", np.bool_(True))]),
                        ("dropout_inference", [("training", np.bool_(False))])):
    inputs = [value("x", F32, "n"), value("ratio", F32)]
    save(name, [node("Dropout", ["x", "ratio", "training"], ["y", "mask"])],
         inputs + ([] if constants else [value("training", BOOL)]),
         [value("y", F32, "n"), value("mask", BOOL, "n")], constants)
save("dropout_6", [node("Dropout", ["x"], ["y"], ratio=0.25)], [value("x", F32, "n")],
     [value("y", F32, "n")], opset=6)
save("taken_name", [node("RandomUniformLike", ["seed"], ["y"])], [value("seed", F32, 2)],
     [value("y", F32, 2)])
