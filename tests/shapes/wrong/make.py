#!/usr/bin/python3
"""Writes the ONNX files and tensors that the .txt files of this folder use (python3-onnx 1.12)."""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def i64(*values):
    return np.array(values, dtype=np.int64)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=outputs[0] + "_1", **attributes)


def save(name, nodes, inputs, outputs, initializers=(), opset=13):
    graph = helper.make_graph(nodes, name, inputs, outputs, [
        numpy_helper.from_array(array, key) for key, array in initializers
    ])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.producer_name = "scopevm tests"
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())


def rows():
    """Reshapes x: [n, h] to [-1, 12]."""
    save("rows", [node("Relu", ["x"], ["warm"]), node("Reshape", ["warm", "shape"], ["row"])],
         [value("x", ["n", "h"])], [value("row", [None, 12])], [("shape", i64(-1, 12))])


def heads():
    """Reshapes x: [n, t, 6] to [n, t, 2, 4], which always has another element count."""
    save("heads", [node("Reshape", ["x", "shape"], ["split"])], [value("x", ["n", "t", 6])],
         [value("split", [None] * 4)], [("shape", i64(0, 0, 2, 4))])


def like():
    """Expands x: [n, 3] to the shape of y: [m, k]."""
    save("like", [node("Shape", ["y"], ["shape"]), node("Expand", ["x", "shape"], ["wide"])],
         [value("x", ["n", 3]), value("y", ["m", "k"])], [value("wide", [None, None])])


def words():
    """Gathers rows of a table with five rows by ids."""
    save("words", [node("Gather", ["table", "ids"], ["embedding"], axis=0)],
         [value("ids", ["n"], TensorProto.INT64)], [value("embedding", ["n", 2])],
         [("table", np.arange(10, dtype=np.float32).reshape(5, 2))])


def shelf():
    """Gathers row 4 of x: [n, 4], and column 4, which does not exist."""
    save("shelf", [node("Gather", ["x", "at"], ["row"], axis=0)], [value("x", ["n", 4])],
         [value("row", None)], [("at", i64(4))])
    save("column", [node("Gather", ["x", "at"], ["column"], axis=1)], [value("x", ["n", 4])],
         [value("column", None)], [("at", i64(4))])


def picked():
    """GatherElements and ScatterElements along axis 1."""
    save("picked", [
        node("GatherElements", ["x", "at"], ["taken"], axis=1),
        node("ScatterElements", ["x", "at", "new"], ["put"], axis=1),
    ], [value("x", ["n", "h"]), value("at", ["m", "k"], TensorProto.INT64),
        value("new", ["p", "q"])], [value("taken", None), value("put", None)])


def parts():
    """Splits a dim of 8 into parts of 3 and 6, and a dynamic dim into two or four parts."""
    save("parts", [node("Split", ["x", "sizes"], ["left", "right"], axis=0)],
         [value("x", [8])], [value("left", [3]), value("right", [6])], [("sizes", i64(3, 6))])
    save("halves", [node("Split", ["x"], ["left", "right"], axis=1)],
         [value("x", ["n", "h"])], [value("left", None), value("right", None)])
    names = ["first", "second", "third", "fourth"]
    save("quarters", [node("Split", ["x"], names, axis=1, num_outputs=4)],
         [value("x", ["n", "h"])], [value(name, None) for name in names], opset=18)


def squeezed():
    """Squeezes a dim of 4."""
    save("squeezed", [node("Squeeze", ["x", "axis"], ["flat"])], [value("x", ["n", "h", 4])],
         [value("flat", None)], [("axis", i64(2))])


def joined():
    """A Concat and a MatMul of static dims that do not match."""
    save("unlike", [node("Concat", ["x", "y"], ["both"], axis=0)],
         [value("x", ["n", 4]), value("y", ["m", 5])], [value("both", None)])
    save("inner", [node("MatMul", ["x", "w"], ["product"])], [value("x", ["n", 4])],
         [value("product", None)], [("w", np.ones((5, 2), dtype=np.float32))])


def huge():
    """Very large shapes, and one negative dim: a tile, two constants and an input."""
    save("tiled", [node("Tile", ["x", "times"], ["wall"])], [value("x", ["n", "h"])],
         [value("wall", None)], [("times", i64(1 << 31, 1 << 31))])
    save("filled", [node("ConstantOfShape", ["dims"], ["zeros"]), node("Add", ["x", "zeros"],
                                                                       ["sum"])],
         [value("x", [1])], [value("sum", None)], [("dims", i64(1 << 62))])
    save("negative", [node("ConstantOfShape", ["dims"], ["zeros"]), node("Add", ["x", "zeros"],
                                                                         ["sum"])],
         [value("x", [1])], [value("sum", None)], [("dims", i64(3, -2))])
    save("declared", [node("Relu", ["x"], ["y"])], [value("x", [1 << 62, 1 << 62])],
         [value("y", None)])


def masked():
    """A mask whose length is the sum of the lengths of two other inputs."""
    save("masked", [
        node("Concat", ["cache", "step"], ["keys"], axis=0),
        node("Add", ["keys", "mask"], ["scores"]),
    ], [value("mask", ["past + now"]), value("cache", ["past"]), value("step", ["now"])],
         [value("scores", None)])


def tensors():
    np.save(os.path.join(FOLDER, "integers.npy"), np.zeros((2, 3, 5), dtype=np.int64))
    np.save(os.path.join(FOLDER, "floats.npy"), np.zeros((2,), dtype=np.float32))
    np.save(os.path.join(FOLDER, "ids_beyond.npy"), i64(0, 4, 5))
    np.save(os.path.join(FOLDER, "ids_before.npy"), i64(-5, -6))
    np.save(os.path.join(FOLDER, "ids_absurd.npy"), i64(1 << 62))


for make in (rows, heads, like, words, shelf, picked, parts, squeezed, joined, huge, masked, tensors):
    make()
