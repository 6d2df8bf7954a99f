#!/usr/bin/env python3
"""How does the compile time grow with the size of a model?

    bench/compile_growth.py build/release/bin/scopevm [-o PLOT.svg] [FAMILY...]

Generates models of each family with 1/16, 1/8, 1/4, 1/2 and 1/1 of the family's largest size, and
compiles each with one thread. Prints the CPU time in seconds, and the exponent: the slope of the
time over the size, both logarithmic, between the last two sizes, without the time of the smallest
model. A linear time has exponent 1; n log n has 1.1 to 1.2 at these sizes. -o also writes a plot.
"""
import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools" / "models"))
from graph_builder import FLOAT, GraphBuilder  # noqa: E402
import numpy as np  # noqa: E402
from svg import COLOURS, Drawing, log_part  # noqa: E402

FRACTIONS = [16, 8, 4, 2, 1]
WIDTH = 16


def builder():
    return GraphBuilder("growth", opset=17, seed=1)


def finish(graph, value, dims):
    graph.output("y", value, FLOAT, dims)
    return graph.model(), []


def elementwise(size):
    """A chain of elementwise ops, which are fused."""
    graph = builder()
    value = graph.input("x", FLOAT, ["n", WIDTH])
    for i in range(size):
        value = graph.op(["Abs", "Neg", "Tanh", "Sqrt", "Sigmoid"][i % 5], value)
    return finish(graph, value, ["n", WIDTH])


def layers(size):
    """Layers of MatMul, Add, Relu and Softmax, and a residual connection."""
    graph = builder()
    value = graph.input("x", FLOAT, ["n", WIDTH])
    for i in range(size // 5):
        hidden = graph.op("Relu", graph.linear(value, f"layer{i}", WIDTH, WIDTH))
        value = graph.op("Add", graph.op("Softmax", hidden, axis=1), value)
    return finish(graph, value, ["n", WIDTH])


def branches(size):
    """A Concat of branches that read one input."""
    graph = builder()
    x = graph.input("x", FLOAT, ["n", WIDTH])
    made = [graph.linear(x, f"branch{i}", WIDTH, WIDTH) for i in range(size // 2)]
    return finish(graph, graph.op("Concat", *made, axis=1), ["n", len(made) * WIDTH])


def unrolled(size):
    """A recurrent network, unrolled: each step reads a slice of the input."""
    graph = builder()
    steps = size // 6
    x = graph.input("x", FLOAT, ["n", steps, WIDTH])
    state = graph.op("Mul", graph.op("ReduceMean", x, axes=[1], keepdims=0), graph.constant(0.0))
    weight = graph.normal("weight", (WIDTH, WIDTH), WIDTH ** -0.5)
    states = []
    for i in range(steps):
        here = graph.squeeze(graph.op("Slice", x, graph.constant([i], np.int64),
                                      graph.constant([i + 1], np.int64),
                                      graph.constant([1], np.int64)), 1)
        state = graph.op("Tanh", graph.op("Add", graph.op("MatMul", state, weight), here))
        states.append(graph.unsqueeze(state, 1))
    return finish(graph, graph.op("Concat", *states, axis=1), ["n", steps, WIDTH])


def inputs(size):
    """A Concat of inputs with one dim each."""
    graph = builder()
    made = [graph.input(f"x{i}", FLOAT, [f"d{i}", 4]) for i in range(size)]
    return finish(graph, graph.op("Concat", *made, axis=0), ["rows", 4])


def broadcasts(size):
    """A Sum of inputs whose dims broadcast."""
    graph = builder()
    made = [graph.input(f"x{i}", FLOAT, [f"d{i}", 4]) for i in range(size)]
    return finish(graph, graph.op("Sum", *made), ["rows", 4])


def outputs(size):
    """A Split into parts, each an output."""
    graph = builder()
    x = graph.input("x", FLOAT, ["n", 4 * size])
    for i, part in enumerate(graph.split(x, [4] * size, 1)):
        graph.output(f"y{i}", graph.op("Relu", part), FLOAT, ["n", 4])
    return graph.model(), []


def reshapes(size):
    """Each step appends the input to the value of the previous step: the sizes are sums with ever
    larger coefficients."""
    graph = builder()
    x = graph.input("x", FLOAT, ["n", "m"])
    value = x
    for _ in range(size // 4):
        flat = graph.op("Reshape", value, graph.constant([-1], np.int64))
        grown = graph.op("Concat", flat, graph.op("Reshape", x, graph.constant([-1], np.int64)),
                         axis=0)
        value = graph.op("Relu", grown)
    return finish(graph, value, ["rows"])


def devices(size):
    """Layers that are placed on the devices of a machine in turn."""
    machine = {"devices": [{"name": f"cpu{i}", "kind": "cpu"} for i in range(size)],
               "default_device": "cpu0"}
    graph = builder()
    value = graph.input("x", FLOAT, ["n", WIDTH])
    options = []
    for i in range(32):
        value = graph.op("Relu", graph.linear(value, f"layer{i}", WIDTH, WIDTH))
        options += ["--place", f"{value.removesuffix('_out')}=cpu{i * size // 32}"]
    model, _ = finish(graph, value, ["n", WIDTH])
    path = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
    with path:
        json.dump(machine, path)
    return model, ["--machine", path.name, *options]


# The largest size of each family: ops, inputs, outputs or devices.
FAMILIES = {elementwise: 10000, layers: 10000, branches: 10000, unrolled: 10000, reshapes: 2000,
            outputs: 1000, inputs: 1000, broadcasts: 256, devices: 256}


def cpu_seconds(scopevm, family, size):
    with tempfile.TemporaryDirectory() as folder:
        model, options = family(size)
        path = os.path.join(folder, "model.onnx")
        pathlib.Path(path).write_bytes(model.SerializeToString())
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([scopevm, "compile", path, "-o", os.path.join(folder, "model.bc"), *options],
                       check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def svg(rows):
    """The times over the relative sizes, both axes logarithmic, with a dotted line of exponent 1."""
    left, top, width, height = 60, 20, 460, 400
    x = lambda fraction: left + width * (1 - math.log2(fraction) / 4)
    y = lambda s: top + height * (1 - log_part(s, low=0.05, high=50))
    drawing = Drawing(left + width + 130, top + height + 50)
    for seconds in [0.1, 1, 10]:
        drawing.y_tick(left, y(seconds), width, f"{seconds:g} s")
    for fraction in FRACTIONS:
        drawing.text(x(fraction), top + height + 18, f"1/{fraction}")
    drawing.text(left + width / 2, top + height + 38, "part of the largest size")
    drawing.line([(x(16), y(0.5)), (x(1), y(8))], "#888", dashes="2 3")
    for (name, size, seconds), colour in zip(rows, COLOURS):
        drawing.line([(x(f), y(s)) for f, s in zip(FRACTIONS, seconds)], colour)
        drawing.text(left + width + 6, y(seconds[-1]) + 4, f"{name} {size}", "start", colour)
    return str(drawing)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scopevm")
    parser.add_argument("-o", dest="plot", help="write a plot in SVG format")
    parser.add_argument("family", nargs="*", choices=[[], *(f.__name__ for f in FAMILIES)])
    arguments = parser.parse_args()
    print("| family | largest size | " + " | ".join(f"1/{f}" for f in FRACTIONS) + " | exponent |")
    print("| --- " + "| ---: " * (len(FRACTIONS) + 2) + "|")
    rows = []
    for family, largest in FAMILIES.items():
        if arguments.family and family.__name__ not in arguments.family:
            continue
        seconds = [cpu_seconds(arguments.scopevm, family, largest // f) for f in FRACTIONS]
        exponent = math.log2(max(seconds[-1] - seconds[0], 1e-3) /
                             max(seconds[-2] - seconds[0], 1e-3))
        rows.append((family.__name__, largest, seconds))
        print(f"| {family.__name__} | {largest} | " + " | ".join(f"{s:.2f}" for s in seconds) +
              f" | {exponent:.2f} |", flush=True)
    if arguments.plot:
        pathlib.Path(arguments.plot).write_text(svg(rows))


if __name__ == "__main__":
    main()
