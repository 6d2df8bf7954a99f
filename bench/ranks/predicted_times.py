#!/usr/bin/env python3
"""How close is the time that `explain --time` predicts for a job to the time that the job takes?

    bench/ranks/predicted_times.py build/release/bin/scopevm [-o PLOT.svg]

Compiles a transformer for 2, 4 and 8 ranks, with `--split tensor=N` and `--split pipeline=N`, for
machines with two kinds of links. Each rank reads its weights from a slow memory. Runs each module
under mpirun on this machine, with emulated memory and links, and prints the predicted and the
measured time of a request. The kernels themselves must take little of that time: the processes
share the CPUs. -o also writes a plot.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from svg import COLOURS, Drawing, log_part  # noqa: E402

LAYERS, WIDTH, HEADS, TOKENS = 8, 256, 8, 32
RANKS = [2, 4, 8]
SPLITS = ["tensor", "pipeline"]
# Bytes per second and seconds.
LINKS = {"fast": (1e9, 1e-4), "slow": (2e7, 2e-3)}
WEIGHTS, OTHERS = 4e6, 1e10  # bytes per second of the pools
JOB_SECONDS = 120
# Open MPI as root, with more ranks than CPUs.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
       "OMPI_MCA_plm_rsh_agent": "true", "OMPI_MCA_mpi_yield_when_idle": "1"}


class Graph:
    """A graph in MLIR assembly, op by op."""

    def __init__(self):
        self.lines = []
        self.types = {}

    def type(self, dims):
        return f"!sv.tensor<f32[{', '.join(map(str, dims))}]>"

    def op(self, name, operands, dims, attributes=""):
        result = f"%v{len(self.types)}"
        self.types[result] = self.type(dims)
        types = ", ".join(self.types[operand] for operand in operands)
        self.lines.append(f"  {result} = sv.{name} {', '.join(operands)}"
                          f"{' {' + attributes + '}' if attributes else ''} : ({types}) -> "
                          f"{self.type(dims)}")
        return result

    def weight(self, rows, columns):
        """A matrix that differs from all others, so that none are merged."""
        result = f"%v{len(self.types)}"
        self.types[result] = self.type([rows, columns])
        value = (1 + len(self.types) / 1000) / (2 * rows)
        self.lines.append(f"  {result} = sv.constant {{value = dense<{value:.8f}> : "
                          f"tensor<{rows}x{columns}xf32>}} : {self.type([rows, columns])}")
        return result

    def product(self, x, rows, columns):
        return self.op("matmul", [x, self.weight(rows, columns)], ["n", columns])


def layer(graph, x):
    """An attention and a multilayer perceptron, each with a residual connection."""
    size = WIDTH // HEADS
    qkv = graph.op("reshape", [graph.product(x, WIDTH, 3 * WIDTH)], ["n", 3 * HEADS, size],
                   f"dims = #sv.dims<[n, {3 * HEADS}, {size}]>")
    heads = graph.op("transpose", [qkv], [3 * HEADS, "n", size],
                     "permutation = array<i64: 1, 0, 2>")
    q, k, v = (graph.op("slice", [heads], [HEADS, "n", size],
                        f"starts = #sv.dims<[{part * HEADS}, 0, 0]>, "
                        f"sizes = #sv.dims<[{HEADS}, n, {size}]>, steps = array<i64: 1, 1, 1>")
               for part in range(3))
    scores = graph.op("matmul", [q, k], [HEADS, "n", "n"], "transpose_b = true")
    weights = graph.op("softmax", [scores], [HEADS, "n", "n"], "axis = 2 : i64")
    mixed = graph.op("transpose", [graph.op("matmul", [weights, v], [HEADS, "n", size])],
                     ["n", HEADS, size], "permutation = array<i64: 1, 0, 2>")
    joined = graph.op("reshape", [mixed], ["n", WIDTH], f"dims = #sv.dims<[n, {WIDTH}]>")
    x = graph.op("add", [graph.product(joined, WIDTH, WIDTH), x], ["n", WIDTH])
    hidden = graph.op("relu", [graph.product(x, WIDTH, 4 * WIDTH)], ["n", 4 * WIDTH])
    return graph.op("add", [graph.product(hidden, 4 * WIDTH, WIDTH), x], ["n", WIDTH])


def transformer():
    graph = Graph()
    x = "%x"
    graph.types[x] = graph.type(["n", WIDTH])
    for _ in range(LAYERS):
        x = layer(graph, x)
    return "\n".join([f"func.func @main(%x: {graph.types['%x']}) -> {graph.types[x]} {{",
                      *graph.lines, f"  return {x} : {graph.types[x]}", "}", ""])


def machine(ranks, link):
    """A CPU for each rank, and equal links between all."""
    names = [f"cpu{rank or ''}" for rank in range(ranks)]
    pools = [{"device": name, "scope": scope, "bytes_per_second": speed, "latency_seconds": 0}
             for name in names for scope, speed in
             [("global", OTHERS), ("global.workspace", OTHERS), ("global.constant", WEIGHTS)]]
    return {"devices": [{"name": name, "kind": "cpu", "rank": rank, "max_stack_bytes": 0}
                        for rank, name in enumerate(names)],
            "pools": pools,
            "links": [{"ranks": [a, b], "bytes_per_second": link[0], "latency_seconds": link[1]}
                      for a in range(ranks) for b in range(a + 1, ranks)]}


def output_of(command, **options):
    result = subprocess.run(["timeout", "-k", "5", str(JOB_SECONDS), *command], text=True,
                            capture_output=True, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {result.returncode}\n{result.stderr}")
    return result.stdout


def measure(scopevm, folder, split, ranks, link, repeat):
    """The predicted and the emulated seconds of a request: the median of `repeat`."""
    files = {name: str(folder / name) for name in ["model.mlir", "machine.json", "model.bc"]}
    pathlib.Path(files["machine.json"]).write_text(json.dumps(machine(ranks, link)))
    options = [files["model.mlir"], "--machine", files["machine.json"], "--split",
               f"{split}={ranks}"]
    output_of([scopevm, "compile", *options, "-o", files["model.bc"]])
    predicted = json.loads(output_of([scopevm, "explain", *options, "--time", "--at",
                                      f"n={TOKENS}", "--json"]))
    job = ["mpirun", "-n", str(ranks), scopevm, "run", files["model.bc"], f"n={TOKENS}",
           "--emulate", "--emulate-links", f"{link[0]:g}:{link[1]:g}", "--repeat", str(repeat),
           "--json"]
    emulated = json.loads(output_of(job, env=os.environ | MPI))
    return predicted, emulated["latency_us"]["median"] / 1e6


def svg(rows):
    """A dot for each row: predicted and emulated seconds on logarithmic axes, and the diagonal."""
    left, top, size = 60, 20, 420
    low, high = 0.5, 10
    part = lambda seconds: log_part(seconds, low, high)
    x = lambda seconds: left + size * part(seconds)
    y = lambda seconds: top + size * (1 - part(seconds))
    drawing = Drawing(left + size + 150, top + size + 50)
    for tick in [0.5, 1, 2, 5, 10]:
        drawing.y_tick(left, y(tick), size, f"{tick:g} s")
        drawing.line([(x(tick), top), (x(tick), top + size)])
        drawing.text(x(tick), top + size + 18, f"{tick:g} s")
    drawing.line([(x(low), y(low)), (x(high), y(high))], "#888", dashes="2 3")
    drawing.text(left + size / 2, top + size + 38, "predicted; upwards: emulated")
    kinds = [(split, link) for split in SPLITS for link in LINKS]
    for position, (kind, colour) in enumerate(zip(kinds, COLOURS)):
        at = top + 20 * (position + 1)
        drawing.dot(left + size + 16, at, " ".join(kind), colour)
        drawing.text(left + size + 26, at + 4, f"{kind[0]}, {kind[1]} links", "start")
        for split, ranks, link, predicted, emulated in rows:
            if (split, link) == kind:
                drawing.dot(x(predicted), y(emulated),
                            f"{split}={ranks}, {link} links: {predicted:.3f} s, {emulated:.3f} s",
                            colour)
    return str(drawing)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scopevm")
    parser.add_argument("-o", dest="plot", help="write a plot in SVG format")
    parser.add_argument("--repeat", type=int, default=3, help="requests of each job")
    arguments = parser.parse_args()
    scopevm = str(pathlib.Path(arguments.scopevm).resolve())
    print("| split | links | messages | kB | predicted, ms | emulated, ms | ratio |")
    print("| --- | --- " + "| ---: " * 5 + "|")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.mlir").write_text(transformer())
        for split in SPLITS:
            for link, speed in LINKS.items():
                for ranks in RANKS:
                    predicted, emulated = measure(scopevm, folder, split, ranks, speed,
                                                  arguments.repeat)
                    seconds = predicted["seconds"]
                    rows.append((split, ranks, link, seconds, emulated))
                    messages = sum(each["messages"] for each in predicted["links"])
                    kilobytes = sum(each["bytes"] for each in predicted["links"]) / 1000
                    print(f"| `{split}={ranks}` | {link} | {messages} | {kilobytes:.0f} | "
                          f"{1e3 * seconds:.1f} | {1e3 * emulated:.1f} | "
                          f"{emulated / seconds:.3f} |", flush=True)
    if arguments.plot:
        pathlib.Path(arguments.plot).write_text(svg(rows))


if __name__ == "__main__":
    main()
