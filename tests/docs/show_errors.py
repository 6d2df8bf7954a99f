#!/usr/bin/env python3
"""Prints the error message of each of many small invalid inputs, for docs/errors.md.

    show_errors.py onnx FILE             one ONNX graph per line, such as Relu(f32[n, 3]); after
                                         ` sed `, a script that edits the encoded model
    show_errors.py op FILE               one graph operation per line, such as sv.relu f32[n, 3]
    show_errors.py edit BASE FILE        one sed script per line, applied to a copy of BASE
    show_errors.py command FILE          one shell command per line
    show_errors.py model GRAPH           writes the ONNX model of a graph to stdout

Each line of FILE is printed, and after it the output of `scopevm`, indented. The exit code follows
unless it is 1. Empty lines and lines that start with `#` structure the output and are printed.
With `edit`, the first line of FILE is the command that reads the copy, `edited`.
docs/errors.md describes the notation of the inputs; docs/testing.md describes how to add one.
"""

import concurrent.futures
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the page's test runs this script in the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "onnx_cases"))
from wire_format import content as message, integer, real  # noqa: E402

# TensorProto.DataType, and the format of an element in raw data.
ELEMENTS = {"f32": (1, "f"), "u8": (2, "B"), "i8": (3, "b"), "u16": (4, "H"), "i16": (5, "h"),
            "i32": (6, "i"), "i64": (7, "q"), "str": (8, None), "bool": (9, "?"), "f16": (10, "e"),
            "f64": (11, "d"), "u32": (12, "I"), "u64": (13, "Q"), "c64": (14, "ff"),
            "bf16": (16, "H"), "i4": (22, None)}
TOKEN = re.compile(r'\s*(->|"[^"]*"|-?\d+\.\d+|-?\d+|[A-Za-z_][\w.]*|.)')


class Graph:
    """The parts of a GraphProto that have been read."""

    def __init__(self, parent=None):
        self.nodes, self.inputs, self.constants, self.parent = [], [], [], parent

    def encoded(self, outputs):
        results = [message(12, message(1, name)) for name in outputs]
        return b"".join([*(message(1, node) for node in self.nodes), message(2, "graph"),
                         *(message(5, constant) for constant in self.constants),
                         *(message(11, value) for value in self.inputs), *results])


class OnnxLine:
    """Reads the notation of an ONNX graph.

        node      = OP ["@" OPSET] "(" [value {"," value}] ")" {ATTRIBUTE "=" attribute} ["->" N]
                                                  N: number of outputs
        value     = "_" (missing) | input | constant | node | NAME of a parameter of a subgraph
        input     = type | ("seq" | "opt") "(" input ")"
        type      = ELEMENT ["[" dims "]"]        without dims: of unknown rank
        constant  = ELEMENT "[" dims "]" "{" elements "}"
        attribute = NUMBER | STRING | "[" numbers or strings "]" | constant
                  | "graph" "(" parameters ";" values ")"        parameters: NAME ":" type
    """

    def __init__(self, line):
        self.tokens = [found[1] for found in TOKEN.finditer(line.strip())]
        self.opset, self.count, self.graph = 21, 0, Graph()

    def model(self):
        outputs = self.node()
        if self.tokens:
            raise ValueError(f"unexpected {self.tokens}")
        domains = {"": self.opset, "ai.onnx.ml": 3, "ai.onnx.preview": 1}
        return (integer(1, 8) + message(7, self.graph.encoded(outputs)) + b"".join(
            message(8, message(1, name) + integer(2, opset)) for name, opset in domains.items()))

    def peek(self, index=0):
        return self.tokens[index] if index < len(self.tokens) else ""

    def take(self, token=None):
        taken = self.tokens.pop(0) if self.tokens else ""
        if token not in (None, taken):
            raise ValueError(f"expected {token}, given {taken} {self.tokens}")
        return taken

    def items(self, end, read):
        """Comma-separated items up to the token `end`."""
        items = []
        while self.peek() != end:
            items.append(read())
            if self.peek() == ",":
                self.take()
        self.take(end)
        return items

    def node(self):
        self.count += 1
        number = self.count
        domain, _, op = self.take().rpartition(".")
        if self.peek() == "@":
            self.take()
            self.opset = int(self.take())
        self.take("(")
        inputs = self.items(")", self.value)
        attributes = []
        while self.peek(1) == "=":
            name = self.take()
            self.take("=")
            attributes.append(message(5, message(1, name) + self.attribute()))
        outputs = 1
        if self.peek() == "->":
            self.take()
            outputs = int(self.take())
        names = [f"y{number}" if i == 0 else f"y{number}_{i}" for i in range(outputs)]
        self.graph.nodes.append(b"".join(
            [*(message(1, name) for name in inputs), *(message(2, name) for name in names),
             message(3, f"node{number}" if number > 1 else "node"), message(4, op), *attributes,
             message(7, domain)]))
        return names

    def value(self):
        token = self.peek()
        if token == "_":
            self.take()
            return ""
        if token in ELEMENTS or token in ("seq", "opt"):
            return self.typed()
        if self.peek(1) in ("(", "@"):
            return self.node()[0]
        return self.take()

    def typed(self):
        graph = self.graph
        if self.peek() in ("seq", "opt"):
            value_type = self.list_type()
        else:
            element, dims, value_type = self.type()
            if self.peek() == "{":
                name = f"c{len(graph.constants)}"
                graph.constants.append(self.constant(element, dims) + message(8, name))
                return name
        while graph.parent:
            graph = graph.parent
        name = f"x{len(graph.inputs)}"
        graph.inputs.append(message(1, name) + message(2, value_type))
        return name

    def list_type(self):
        if self.peek() not in ("seq", "opt"):
            return self.type()[2]
        field = 4 if self.take() == "seq" else 9
        self.take("(")
        encoded = message(field, message(1, self.list_type()))
        self.take(")")
        return encoded

    def type(self):
        """The element type, the dims and the encoded TypeProto."""
        element, dims = self.take(), []
        encoded = integer(1, ELEMENTS[element][0])
        if self.peek() == "[":
            self.take()
            dims = self.items("]", self.take)
            encoded += message(2, b"".join(
                message(1, integer(1, int(dim)) if re.fullmatch(r"-?\d+", dim) else
                        message(2, dim) if dim != "?" else b"") for dim in dims))
        return element, dims, message(1, encoded)

    def constant(self, element, dims):
        """The TensorProto, without a name."""
        number, form = ELEMENTS[element]
        self.take("{")
        elements = self.items("}", self.take)
        encoded = b"".join(integer(1, int(dim)) for dim in dims) + integer(2, number)
        if element == "str":
            return encoded + b"".join(message(6, text.strip('"')) for text in elements)
        convert = float if form in "fde" else int
        return encoded + message(9, b"".join(
            struct.pack("<" + form, convert(item)) for item in elements))

    def attribute(self):
        token = self.peek()
        if token in ELEMENTS:
            element, dims, _ = self.type()
            return message(5, self.constant(element, dims)) + integer(20, 4)
        if token == "graph":
            return message(6, self.subgraph()) + integer(20, 5)
        self.take()
        if token == "[":
            items = self.items("]", self.take)
            if items and items[0].startswith('"'):
                return b"".join(message(9, item.strip('"')) for item in items) + integer(20, 8)
            if any("." in item for item in items):
                return b"".join(real(7, float(item))
                                for item in items) + integer(20, 6)
            return b"".join(integer(8, int(item)) for item in items) + integer(20, 7)
        if token.startswith('"'):
            return message(4, token.strip('"')) + integer(20, 3)
        if "." in token:
            return real(2, float(token)) + integer(20, 1)
        return integer(3, int(token)) + integer(20, 2)

    def subgraph(self):
        self.take("graph")
        self.take("(")
        self.graph = graph = Graph(self.graph)

        def parameter():
            name = self.take()
            self.take(":")
            graph.inputs.append(message(1, name) + message(2, self.type()[2]))

        self.items(";", parameter)
        outputs = self.items(")", self.value)
        self.graph = graph.parent
        return graph.encoded(outputs)


def op_function(line):
    """A function with the op of a line: `NAME TYPE, TYPE {ATTRIBUTES} -> TYPE, TYPE`. A type is an
    MLIR type, or that of a tensor without `!sv.tensor<` and `>`."""
    name, operands, attributes, results = re.fullmatch(
        r"(\S+)\s*(.*?)\s*(\{.*\})?(?:\s*->\s*(.*?))?", line).groups()

    def types(text):
        parts = re.findall(r"(?:[^,\[<(]|\[[^\]]*\]|<.*?>+|\([^)]*\))+", text or "")
        return [part if part.startswith("!") else f"!sv.tensor<{part}>"
                for part in map(str.strip, parts)]

    operand_types = types(operands)
    result_types = types("f32[]" if results is None else results)
    arguments = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(operand_types))
    values = ", ".join(f"%{i}" for i in range(len(operand_types)))
    left = f"%r:{len(result_types)} = " if result_types else ""
    returned = ", ".join(f"%r#{i}" for i in range(len(result_types)))
    listed = ", ".join(result_types)
    end = f"return {returned} : {listed}" if result_types else "return"
    return (f"func.func @main({arguments}) -> ({listed}) {{\n"
            f"{left}\"{name}\"({values}) {attributes or ''}"
            f" : ({', '.join(operand_types)}) -> ({listed})\n{end}\n}}\n")


def sed(script, content, *options):
    return subprocess.run(["sed", "-E", *options, script], check=True, input=content,
                          env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.PIPE).stdout


def shown(line, command, folder="."):
    """The line and the output of its command; fails unless the command reports an error."""
    done = subprocess.run(["bash", "-c", command], check=False, text=True, errors="replace",
                          cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    lines = [line, *(f"    {output}".rstrip() for output in done.stdout.splitlines())]
    if done.returncode != 1:
        lines.append(f"    exit code {done.returncode}")
    if done.returncode not in (1, 2, 3):
        raise ValueError("\n".join(["an error was expected, given:", *lines]))
    return "\n".join(lines)


def show_line(kind, line, base, command):
    if not line or line.startswith("#"):
        return line
    if kind == "command":
        return shown(line, line)
    if kind == "edit":
        pathlib.Path("edited").write_bytes(sed(line, pathlib.Path(base).read_bytes()))
        return shown(line, command)
    with tempfile.TemporaryDirectory() as folder:
        if kind == "op":
            (pathlib.Path(folder) / "op.mlir").write_text(op_function(line))
            return shown(line, "scopevm compile op.mlir -o op.bc", folder)
        node, _, script = line.partition(" sed ")
        model = OnnxLine(node).model()
        if script:
            model = sed(script, model, "-z")
        (pathlib.Path(folder) / "node.onnx").write_bytes(model)
        return shown(line, "scopevm compile node.onnx -o node.bc", folder)


def main():
    kind, *bases, path = sys.argv[1:]
    if kind == "model":
        sys.stdout.buffer.write(OnnxLine(path).model())
        return
    base = bases[0] if bases else ""
    lines = pathlib.Path(path).read_text().splitlines()
    command = lines.pop(0) if kind == "edit" else ""
    if command:
        print("# Command: " + command)
    workers = os.cpu_count() if kind in ("onnx", "op") else 1
    with concurrent.futures.ThreadPoolExecutor(workers) as executor:
        for text in executor.map(lambda line: show_line(kind, line, base, command), lines):
            print(text)


if __name__ == "__main__":
    main()
