#!/usr/bin/python3
"""Writes the small ONNX files that the tests of the frontend read (python3-onnx 1.12).

Each function without parameters writes the files whose names begin with its name, with two
exceptions. errors() writes the invalid models, those with external data, and
data_dependent_reshape. declared_types() writes the files that begin with `declared_`. The files
are committed, so that tests run without Python.
"""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, initializers=(), opset=13, ir_version=8, **kwargs):
    graph = helper.make_graph(nodes, name, inputs, outputs, [
        numpy_helper.from_array(array, key) for key, array in initializers
    ], **kwargs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                              ir_version=ir_version)
    model.producer_name = "scopevm tests"
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())
    return model


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=outputs[0] + "_node", **attributes)


def i64(*values):
    return np.array(values, dtype=np.int64)


def computed_reshape():
    """x: [n, t, 6] -> y: [n, t, 2, 3]. The target shape is computed with tensors."""
    save("computed_reshape", [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["n"], axis=0),
        node("Slice", ["shape", "one", "two"], ["t"]),
        node("Unsqueeze", ["n", "axes"], ["n1"]),
        node("Concat", ["n1", "t", "tail"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ], [value("x", ["n", "t", 6])], [value("y", [None] * 4)],
         [("zero", np.array(0, dtype=np.int64)), ("one", i64(1)), ("two", i64(2)),
          ("axes", i64(0)), ("tail", i64(2, 3))])


def shape_as_output():
    """A shape is compile-time arithmetic, but as a result of the model it must be a tensor."""
    save("shape_as_output", [node("Shape", ["x"], ["y"])], [value("x", ["n", 3])],
         [value("y", [2], TensorProto.INT64)])


def unnamed_dims():
    """Dims without a name are named after their input. Invalid names are changed to identifiers."""
    save("unnamed_dims", [node("Relu", ["x"], ["y"]), node("Relu", ["z"], ["w"])],
         [value("x", [None, 3, None]), value("z", ["dyn.0", "2nd"])],
         [value("y", None), value("w", None)])


def dim_names():
    """Dims whose names are not identifiers, or are those of functions and of options."""
    save("dim_names", [node("Concat", ["x", "z"], ["joined"], axis=0),
                       node("Relu", ["joined"], ["y"]), node("Shape", ["u"], ["w"])],
         [value("x", ["a-b", "batch size"]), value("z", ["a b", "batch size"]),
          value("u", ["max", "a_b", "$threads", "say \"x\", y"])],
         [value("y", [None, None]), value("w", [4], TensorProto.INT64)])


def branch_ranks():
    """The results of the branches of an If have different ranks (the squeeze of PyTorch): axis 1 is
    removed if it is 1. Later nodes restore the rank, or the result has either rank."""
    squeeze = helper.make_graph([node("Squeeze", ["x", "axis"], ["squeezed"])], "then", [],
                                [value("squeezed", None)])
    keep = helper.make_graph([node("Identity", ["x"], ["kept"])], "else", [],
                             [value("kept", None)])
    nodes = [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "axis0"], ["b"]),
             node("Equal", ["b", "one"], ["is_one"]),
             node("If", ["is_one"], ["s"], then_branch=squeeze, else_branch=keep)]
    constants = [("axis", i64(1)), ("axis0", np.array(1, dtype=np.int64)),
                 ("one", np.array(1, dtype=np.int64))]
    save("branch_ranks", nodes + [node("ReduceSum", ["s", "last"], ["y"], keepdims=0),
                                  node("Reshape", ["y", "flat"], ["z"])],
         [value("x", ["a", "b"])], [value("z", [None])],
         constants + [("last", i64(-1)), ("flat", i64(-1))])
    save("branch_ranks_of_output", nodes, [value("x", ["a", "b"])], [value("s", None)], constants)


def many_branches():
    """The Ifs of seven inputs have branches with results of different ranks."""
    nodes, inputs, sums = [], [], []
    for i in range(7):
        x, b, s = f"x{i}", f"b{i}", f"s{i}"
        squeeze = helper.make_graph([node("Squeeze", [x, "axis"], [f"squeezed{i}"])], "then", [],
                                    [value(f"squeezed{i}", None)])
        keep = helper.make_graph([node("Identity", [x], [f"kept{i}"])], "else", [],
                                 [value(f"kept{i}", None)])
        nodes += [node("Shape", [x], [f"shape{i}"]),
                  node("Gather", [f"shape{i}", "one"], [f"dim{i}"]),
                  node("Equal", [f"dim{i}", "one"], [f"is_one{i}"]),
                  node("If", [f"is_one{i}"], [s], then_branch=squeeze, else_branch=keep),
                  node("ReduceSum", [s], [f"sum{i}"], keepdims=0)]
        inputs.append(value(x, ["a", b]))
        sums.append(f"sum{i}")
    save("many_branches", nodes + [node("Sum", sums, ["y"])], inputs, [value("y", [])],
         [("axis", i64(1)), ("one", np.array(1, dtype=np.int64))])


def branch_only_of_rank():
    """Later nodes accept the result of one branch only."""
    squeeze = helper.make_graph([node("Squeeze", ["x", "axis"], ["squeezed"])], "then", [],
                                [value("squeezed", None)])
    keep = helper.make_graph([node("Identity", ["x"], ["kept"])], "else", [],
                             [value("kept", None)])
    save("branch_only_of_rank", [
        node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "one"], ["b"]),
        node("Equal", ["b", "one"], ["is_one"]),
        node("If", ["is_one"], ["s"], then_branch=squeeze, else_branch=keep),
        node("Transpose", ["s"], ["y"], perm=[1, 0])], [value("x", ["a", "b"])],
         [value("y", [None, None])], [("axis", i64(1)), ("one", np.array(1, dtype=np.int64))])


def scan_output_size():
    """The parts of a scan output have sizes that are read from outside of the loop."""
    size = value("size", [2], TensorProto.INT64)
    body = helper.make_graph(
        [node("Identity", ["keep"], ["again"]), node("Expand", ["x", "size"], ["part"])], "body",
        [value("i", [], TensorProto.INT64), value("keep", [], TensorProto.BOOL)],
        [value("again", [], TensorProto.BOOL), value("part", None)])
    save("scan_output_size", [node("Loop", ["trips", ""], ["y"], body=body)],
         [value("x", ["n", 1]), size, value("trips", [], TensorProto.INT64)], [value("y", None)])


def past():
    """Keys of past tokens are concatenated with new ones. A dim of neither can be 0."""
    save("past", [node("Concat", ["old", "new"], ["keys"], axis=1),
                  node("Relu", ["cache"], ["y"])],
         [value("old", ["b", "p", 4]), value("new", ["b", "n", 4]),
          value("cache", ["past_length", 4])],
         [value("keys", ["b", None, 4]), value("y", [None, 4])])


def unsupported_ops():
    """Two ops that do not exist, one of them in a domain of its own."""
    helper_node = helper.make_node("Interleave", ["h"], ["y"], name="second", domain="example")
    graph = helper.make_graph([node("Frobnicate", ["x"], ["h"]), helper_node], "unsupported_ops",
                              [value("x", ["n"])], [value("y", None)])
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 13), helper.make_opsetid("example", 1)])
    model.producer_name = "scopevm tests"
    with open(os.path.join(FOLDER, "unsupported_ops.onnx"), "wb") as file:
        file.write(model.SerializeToString())


def unnamed_dim_collision():
    """The model has a dim with the name that an unnamed dim would get."""
    save("unnamed_dim_collision", [node("Relu", ["x"], ["y"]), node("Relu", ["z"], ["w"])],
         [value("x", [None, 4]), value("z", ["x_d0", 4])], [value("y", None), value("w", None)])


def initializer_as_input():
    """Before IR version 4, files list initializers among the inputs; they are not arguments."""
    save("initializer_as_input", [node("Add", ["x", "w"], ["y"])],
         [value("x", ["n", 2]), value("w", [2])], [value("y", None)],
         [("w", np.array([1, 2], dtype=np.float32))], opset=9, ir_version=3)


def default_input():
    """Inputs with initializers: their defaults."""
    initializer = ("w", np.array([1, 2], dtype=np.float32))
    for name, inputs in (
            ("default_input", [value("x", ["n", 2]), value("w", ["m"])]),
            ("default_input_without_shape", [value("x", ["n", 2]), value("w", None)]),
            ("default_input_dtype", [value("x", ["n", 2]), value("w", [2], TensorProto.INT64)]),
            ("default_input_dims", [value("x", ["n", 2]), value("w", [1])])):
        save(name, [node("Add", ["x", "w"], ["y"])], inputs, [value("y", None)], [initializer])
    save("default_input_state", [node("Add", ["x", "h"], ["y"])],
         [value("x", [1, 2]), value("h", [1, 2])], [value("y", [1, 2])],
         [("h", np.array([[10, 20]], dtype=np.float32))])
    save("default_input_str", [node("Identity", ["s"], ["y"])],
         [value("s", [2], TensorProto.STRING)], [value("y", [2], TensorProto.STRING)],
         [("s", np.array(["a", "b"], dtype=object))])


def batch_norm_after_conv():
    """The compiler merges the normalisation into the weights and the bias of the convolution."""
    save("batch_norm_after_conv", [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[1, 1]),
        node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"], epsilon=0.0),
    ], [value("x", ["n", 1, 4, 4])], [value("y", None)],
         [("w", np.array([1, 2], dtype=np.float32).reshape(2, 1, 1, 1)),
          ("s", np.array([2, 4], dtype=np.float32)), ("b", np.array([1, 1], dtype=np.float32)),
          ("m", np.array([0, 1], dtype=np.float32)), ("v", np.array([1, 4], dtype=np.float32))])


def layer_norm_written_out():
    save("layer_norm_written_out", [
        node("ReduceMean", ["x"], ["mean"], axes=[-1]),
        node("Sub", ["x", "mean"], ["d"]),
        node("Pow", ["d", "two"], ["d2"]),
        node("ReduceMean", ["d2"], ["var"], axes=[-1]),
        node("Add", ["var", "eps"], ["ve"]),
        node("Sqrt", ["ve"], ["dev"]),
        node("Div", ["d", "dev"], ["normal"]),
        node("Mul", ["normal", "scale"], ["scaled"]),
        node("Add", ["scaled", "bias"], ["y"]),
    ], [value("x", ["n", 2])], [value("y", None)],
         [("two", np.array(2, dtype=np.float32)), ("eps", np.array(0.5, dtype=np.float32)),
          ("scale", np.array([1, 2], dtype=np.float32)),
          ("bias", np.array([3, 4], dtype=np.float32))])


def conv_transpose_same():
    """A transposed convolution with auto_pad. The pads do not depend on n."""
    save("conv_transpose_same", [
        node("ConvTranspose", ["x", "w"], ["y"], strides=[2], auto_pad="SAME_UPPER")
    ], [value("x", [1, 1, "n"])], [value("y", [1, 1, None])],
         [("w", np.ones((1, 1, 3), dtype=np.float32))])


def same_padding():
    """auto_pad with strides. The pads depend on h and w."""
    random, windows = np.random.default_rng(1), {"strides": [2, 3], "kernel_shape": [3, 2]}
    weight = random.standard_normal((3, 2, 3, 2)).astype(np.float32)
    volume = random.standard_normal((2, 1, 2, 3, 2)).astype(np.float32)
    byte = random.integers(0, 256, (3, 2, 3, 2)).astype(np.uint8)
    save("same_padding", [
        node("Conv", ["x", "weight"], ["conv"], auto_pad="SAME_UPPER", **windows),
        node("Unsqueeze", ["x", "axis"], ["volumes"]),
        node("Conv", ["volumes", "volume"], ["volume_conv"], auto_pad="SAME_LOWER",
             strides=[1, 2, 3], group=2),
        node("MaxPool", ["x"], ["max_pool"], auto_pad="SAME_LOWER", **windows),
        node("AveragePool", ["x"], ["average"], auto_pad="SAME_UPPER", **windows),
        node("AveragePool", ["x"], ["average_of_all"], auto_pad="SAME_LOWER",
             count_include_pad=1, **windows),
        node("LpPool", ["x"], ["lp_pool"], auto_pad="SAME_UPPER", **windows),
        node("DynamicQuantizeLinear", ["x"], ["bytes", "scale", "zero"]),
        node("ConvInteger", ["bytes", "byte", "zero"], ["integers"], auto_pad="SAME_LOWER",
             **windows),
        node("MaxPool", ["bytes"], ["byte_max_pool"], auto_pad="SAME_UPPER", **windows),
    ], [value("x", [1, 2, "h", "w"])], [
        value(name, [None] * rank, dtype)
        for name, rank, dtype in [("conv", 4, TensorProto.FLOAT),
                                  ("volume_conv", 5, TensorProto.FLOAT),
                                  ("max_pool", 4, TensorProto.FLOAT),
                                  ("average", 4, TensorProto.FLOAT),
                                  ("average_of_all", 4, TensorProto.FLOAT),
                                  ("lp_pool", 4, TensorProto.FLOAT),
                                  ("integers", 4, TensorProto.INT32),
                                  ("byte_max_pool", 4, TensorProto.UINT8)]
    ], [("weight", weight), ("volume", volume), ("byte", byte), ("axis", i64(2))])
    # Indices refer to x, and not to x with padding.
    save("same_padding_indices", [
        node("MaxPool", ["x"], ["y", "indices"], auto_pad="SAME_UPPER", **windows)
    ], [value("x", [1, 2, "h", "w"])],
         [value("y", [None] * 4), value("indices", [None] * 4, TensorProto.INT64)])


def function_body():
    """The importer has no handler for the op, so it uses the function body that ONNX defines."""
    save("function_body", [node("NegativeLogLikelihoodLoss", ["x", "t"], ["y"], reduction="none")],
         [value("x", [3, 5]), value("t", [3], TensorProto.INT64)], [value("y", None)])


def function_attribute():
    """A subgraph in a function of the model refers to an attribute of the function. A sequence of
    the function has the name of a sequence of the graph."""
    x = value("x", ["n"])
    leaky = helper.make_node("LeakyRelu", ["x"], ["a"])
    leaky.attribute.append(helper.make_attribute("alpha", 0.0))
    leaky.attribute[0].ClearField("f")
    leaky.attribute[0].ref_attr_name = "slope"
    then = helper.make_graph([leaky], "then", [], [value("a", ["n"])])
    otherwise = helper.make_graph([node("Neg", ["x"], ["b"])], "otherwise", [], [value("b", ["n"])])
    function = helper.make_function(
        "local", "Choose", ["c", "x"], ["r"],
        [node("SequenceConstruct", ["x", "x", "x"], ["parts"]),
         node("If", ["c"], ["r"], then_branch=then, else_branch=otherwise)],
        [helper.make_opsetid("", 13)], ["slope"])
    graph = helper.make_graph(
        [node("SequenceConstruct", ["x"], ["parts"]),
         node("Choose", ["c", "x"], ["y"], slope=0.375, domain="local"),
         node("SequenceLength", ["parts"], ["count"])], "function_attribute",
        [value("c", [], TensorProto.BOOL), x],
        [value("y", ["n"]), value("count", [], TensorProto.INT64)])
    model = helper.make_model(graph, functions=[function], opset_imports=[
        helper.make_opsetid("", 13), helper.make_opsetid("local", 1)])
    model.producer_name = "scopevm tests"
    with open(os.path.join(FOLDER, "function_attribute.onnx"), "wb") as file:
        file.write(model.SerializeToString())


# --- Errors. --------------------------------------------------------------------------------------


def bad(name, nodes, inputs=None, initializers=(), **kwargs):
    save(name, nodes, inputs or [value("x", ["n", 4])], [value("y", None)], initializers, **kwargs)


def declared_types():
    """Declared types of values that contradict the computed types."""
    def chain(name, middle, result):
        save(name, [node("Relu", ["x"], ["h"]), node("Neg", ["h"], ["y"])],
             [value("x", ["n", 4])], [result], value_info=[middle])

    def branch(name, declared):
        then = helper.make_graph([node("Relu", ["x"], ["a"])], "then", [], [declared])
        other = helper.make_graph([node("Neg", ["x"], ["b"])], "else", [], [value("b", ["n", 4])])
        save(name, [node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
             [value("x", ["n", 4]), value("c", [], TensorProto.BOOL)], [value("y", None)])

    same, result = value("h", ["n", 4]), value("y", ["n", 4])
    chain("declared_output_type", same, value("y", ["n", 4], TensorProto.INT64))
    chain("declared_output_dim", same, value("y", ["n", 5]))
    chain("declared_value_type", value("h", ["n", 4], TensorProto.INT64), result)
    chain("declared_value_rank", value("h", ["n", 4, 1]), result)
    branch("declared_branch_type", value("a", ["n", 4], TensorProto.INT64))
    branch("declared_branch_rank", value("a", ["n", 4, 1]))
    body = helper.make_graph(
        [node("Identity", ["c"], ["goes_on"]), node("Relu", ["s"], ["next"])], "body",
        [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL),
         value("s", ["n", 4], TensorProto.INT64)],
        [value("goes_on", [], TensorProto.BOOL), value("next", ["n", 4])])
    save("declared_body_type", [node("Loop", ["k", "", "x"], ["y"], body=body)],
         [value("x", ["n", 4]), value("k", [], TensorProto.INT64)], [value("y", None)])


def declared_lists():
    """Declared types of sequences and optionals."""
    def sequence(name, dims, dtype=TensorProto.FLOAT):
        element = helper.make_tensor_type_proto(dtype, dims)
        return helper.make_value_info(name, helper.make_sequence_type_proto(element))

    pair = node("SequenceConstruct", ["x", "x"], ["s"])
    first = node("SequenceAt", ["s", "i"], ["y"])
    inputs = [value("x", ["n", 4]), value("i", [], TensorProto.INT64)]
    save("declared_sequence_type", [pair, first], inputs, [value("y", None)],
         value_info=[sequence("s", None, TensorProto.INT64)])
    save("declared_sequence_dim", [pair, first], inputs, [value("y", None)],
         value_info=[sequence("s", ["n", 5])])
    save("declared_tensor", [pair], inputs[:1], [value("s", ["n", 4])])
    save("declared_sequence", [node("Relu", ["x"], ["y"])], inputs[:1], [sequence("y", None)])
    save("declared_optional", [node("Optional", ["x"], ["y"])], inputs[:1], [value("y", ["n", 4])])


def too_many_axes():
    """The number of axes is known, but not their values."""
    save("too_many_axes", [node("Unsqueeze", ["x", "axes"], ["y"])],
         [value("x", ["n"]), value("axes", [2**31 - 1], TensorProto.INT64)], [value("y", None)])


def too_many_dims():
    """The rank of the result is known, but not its dims."""
    save("too_many_dims", [node("Reshape", ["x", "shape"], ["y"])],
         [value("x", ["n"]), value("shape", [2**40], TensorProto.INT64)], [value("y", None)])


def nested(depth):
    """`depth` graphs in graphs: If in the first branch of If."""
    branch = helper.make_graph([node("Neg", ["x"], ["v0"])], "b0", [], [value("v0", ["n", 4])])
    for i in range(1, depth):
        other = helper.make_graph([node("Abs", ["x"], [f"o{i}"])], f"o{i}", [],
                                  [value(f"o{i}", ["n", 4])])
        inner = node("If", ["c"], [f"v{i}"], then_branch=branch, else_branch=other)
        branch = helper.make_graph([inner], f"b{i}", [], [value(f"v{i}", ["n", 4])])
    other = helper.make_graph([node("Abs", ["x"], ["o"])], "o", [], [value("o", ["n", 4])])
    save(f"nested_{depth}", [node("If", ["c"], ["y"], then_branch=branch, else_branch=other)],
         [value("c", [], TensorProto.BOOL), value("x", ["n", 4])], [value("y", ["n", 4])])


def functions(name, count, callees):
    """A model that calls f0. Function i calls those of callees(i), or Neg if there are none."""
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)]
    bodies = []
    for i in range(count):
        nodes, last = [], "a"
        for k, callee in enumerate(callees(i)):
            nodes.append(helper.make_node(f"f{callee}", [last], [f"v{k}"], domain="own"))
            last = f"v{k}"
        nodes.append(helper.make_node("Neg", [last], ["r"]))
        bodies.append(helper.make_function("own", f"f{i}", ["a"], ["r"], nodes, opsets))
    graph = helper.make_graph([helper.make_node("f0", ["x"], ["y"], domain="own", name="y_node")],
                              name, [value("x", ["n", 4])], [value("y", ["n", 4])])
    model = helper.make_model(graph, opset_imports=opsets, functions=bodies)
    model.producer_name = "scopevm tests"
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())


def deep():
    nested(200)
    nested(201)
    nested(300)
    functions("functions_200", 200, lambda i: [i + 1] if i < 199 else [])
    functions("functions_201", 201, lambda i: [i + 1] if i < 200 else [])
    functions("functions_cycle", 3, lambda i: [(i + 1) % 3])
    functions("functions_expand", 40, lambda i: [i + 1, i + 1] if i < 39 else [])


def errors():
    bad("unknown_op", [node("Frobnicate", ["x"], ["y"])])
    bad("undefined_input", [node("Relu", ["z"], ["y"])])
    bad("cycle", [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]),
                  node("Relu", ["b"], ["y"])])
    bad("defined_twice", [node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"])])
    bad("missing_input", [node("Add", ["x"], ["y"])])
    bad("missing_factor", [node("MatMul", ["x"], ["y"])])
    bad("wrong_attribute_type", [node("Softmax", ["x"], ["y"], axis=0.5)])
    bad("unknown_attribute", [node("Relu", ["x"], ["y"], alpha=0.5)])
    bad("removed_attribute", [node("ReduceMax", ["x"], ["y"], axes=[0])], opset=18)
    bad("too_many_inputs", [node("Relu", ["x", "x"], ["y"])])
    bad("opset_of_the_future", [node("Relu", ["x"], ["y"])], opset=28)
    model = save("two_opsets", [node("Relu", ["x"], ["y"])], [value("x", ["n", 4])],
                 [value("y", None)])
    model.opset_import.append(helper.make_opsetid("ai.onnx", 17))
    with open(os.path.join(FOLDER, "two_opsets.onnx"), "wb") as file:
        file.write(model.SerializeToString())
    bad("axis_outside_rank", [node("Softmax", ["x"], ["y"], axis=2)])
    bad("shapes_do_not_fit", [node("Add", ["x", "w"], ["y"])],
        initializers=[("w", np.zeros(3, dtype=np.float32))])
    bad("data_dependent_reshape", [node("Reshape", ["x", "s"], ["y"])],
        [value("x", ["n", 4]), value("s", [2], TensorProto.INT64)])
    bad("undefined_output", [node("Relu", ["x"], ["z"])])
    twice = node("Softmax", ["x"], ["y"], axis=0)
    twice.attribute.append(helper.make_attribute("axis", 1))
    bad("attribute_twice", [twice])
    bad("complex_input", [node("Identity", ["x"], ["y"])], [value("x", [1], TensorProto.COMPLEX64)])
    model = save("external_data", [node("Add", ["x", "w"], ["y"])], [value("x", ["n", 4])],
                 [value("y", None)], [("w", np.arange(4, dtype=np.float32))])
    external(model, "external_data", "external_data.bin")
    with open(os.path.join(FOLDER, "external_data.bin"), "wb") as file:
        file.write(np.arange(4, dtype=np.float32).tobytes())
    external(model, "external_data_outside", "../models.bin")
    external(model, "external_data_missing", "no_such_file.bin")
    external(model, "external_data_short", "external_data.bin", offset=4)
    external(model, "external_data_bad_offset", "external_data.bin", offset="abc")
    external(model, "external_data_zero_byte", "external_data.bin\0.txt")
    external(model, "external_data_length", "external_data.bin", length=12)


def external(model, name, location, offset=0, **entries):
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    del tensor.external_data[:]
    for key, text in {"location": location, "offset": offset, **entries}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(text)
    with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString())


if __name__ == "__main__":
    computed_reshape()
    shape_as_output()
    unnamed_dims()
    unnamed_dim_collision()
    dim_names()
    branch_ranks()
    many_branches()
    branch_only_of_rank()
    scan_output_size()
    past()
    unsupported_ops()
    conv_transpose_same()
    same_padding()
    initializer_as_input()
    default_input()
    batch_norm_after_conv()
    layer_norm_written_out()
    function_body()
    function_attribute()
    errors()
    deep()
    declared_types()
    declared_lists()
    too_many_axes()
    too_many_dims()
