"""The models of the server's tests, as assembly, and their compilation.

A test compiles a model once per process: compiled() returns the file of the module.
"""

import os
import pathlib
import subprocess
import tempfile

# The element types, with their names in the protocol.
TYPES = {"bool": "BOOL", "i8": "INT8", "i16": "INT16", "i32": "INT32", "i64": "INT64",
         "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "u64": "UINT64", "f16": "FP16",
         "bf16": "BF16", "f32": "FP32", "f64": "FP64", "str": "BYTES"}


def copy_of(dtype):
    """out_TYPE = in_TYPE"""
    tensor = f"!sv.tensor<{dtype}[n]>"
    return f"""
func.func @main(%x: {tensor} {{sv.name = "in"}}) -> ({tensor} {{sv.name = "out"}}) {{
  return %x : {tensor}
}}
"""


# sum = a + b, product = a * b
PAIR = """
!t = !sv.tensor<f32[n, 3]>
func.func @main(%a: !t {sv.name = "a"}, %b: !t {sv.name = "b"})
    -> (!t {sv.name = "sum"}, !t {sv.name = "product"}) {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.mul %a, %b : (!t, !t) -> !t
  return %0, %1 : !t, !t
}
"""

# y = x / x: NaN for 0
QUOTIENT = """
!t = !sv.tensor<f32[n]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %0 = sv.div %x, %x : (!t, !t) -> !t
  return %0 : !t
}
"""

# hn = h + x, y = hn * hn
SUM = """
!t = !sv.tensor<f32[n, 2]>
func.func @main(%x: !t {sv.name = "x"}, %h: !t {sv.name = "h"})
    -> (!t {sv.name = "y"}, !t {sv.name = "hn"}) {
  %0 = sv.add %x, %h : (!t, !t) -> !t
  %1 = sv.mul %0, %0 : (!t, !t) -> !t
  return %1, %0 : !t, !t
}
"""

# grown = rows and then x; y = the sums of its columns
GROWING = """
!r = !sv.tensor<f32[m, 2]>
!x = !sv.tensor<f32[k, 2]>
!g = !sv.tensor<f32["m+k", 2]>
!y = !sv.tensor<f32[2]>
func.func @main(%x: !x {sv.name = "x"}, %r: !r {sv.name = "rows"})
    -> (!y {sv.name = "y"}, !g {sv.name = "grown"}) {
  %0 = sv.concat %r, %x {axis = 0 : i64} : (!r, !x) -> !g
  %1 = sv.reduce_sum %0 {axes = array<i64: 0>, keep_dims = false} : (!g) -> !y
  return %1, %0 : !y, !g
}
"""

# y = x after `count` times the addition of 1, one after the other: takes time in proportion.
# hn = h + 1 makes it a model of sequences.
SLOW = """
!i = !sv.tensor<i64[]>
!n = !sv.tensor<f32[n]>
!h = !sv.tensor<f32[1]>
func.func @main(%count: !i {sv.name = "count"}, %x: !n {sv.name = "x"}, %h: !h {sv.name = "h"})
    -> (!n {sv.name = "y"}, !h {sv.name = "hn"}) {
  %one = sv.constant {value = dense<1.0> : tensor<f32>} : !sv.tensor<f32[]>
  sv.read_dims %count {symbols = ["$count"]} : !i
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<["$count"]>} : (!n) -> !n {
  ^bb0(%s: !n):
    %1 = sv.add %s, %one : (!n, !sv.tensor<f32[]>) -> !n
    sv.yield %1 : !n
  }
  %2 = sv.add %h, %one : (!h, !sv.tensor<f32[]>) -> !h
  return %0, %2 : !n, !h
}
"""


# pair = a sequence of x and -x, which the protocol cannot return
LIST = """
!n = !sv.tensor<f32[n, m]>
!list = !sv.list<sequence f32[?, ?]>
func.func @main(%x: !n {sv.name = "x"}) -> (!list {sv.name = "pair"}, !n {sv.name = "y"}) {
  %0 = sv.neg %x : (!n) -> !n
  %1 = sv.list %x, %0 : (!n, !n) -> !list
  return %1, %0 : !list, !n
}
"""


# next = token + 1, total = sum + token
COUNTER = """
!t = !sv.tensor<i64[n]>
func.func @main(%token: !t {sv.name = "token"}, %sum: !t {sv.name = "sum"})
    -> (!t {sv.name = "next"}, !t {sv.name = "total"}) {
  %one = sv.constant {value = dense<1> : tensor<i64>} : !sv.tensor<i64[]>
  %0 = sv.add %token, %one : (!t, !sv.tensor<i64[]>) -> !t
  %1 = sv.add %sum, %token : (!t, !t) -> !t
  return %0, %1 : !t, !t
}
"""

# next = x - 1, y = x / x: NaN for 0
COUNTDOWN = """
!t = !sv.tensor<f32[n]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "next"}, !t {sv.name = "y"}) {
  %one = sv.constant {value = dense<1.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.sub %x, %one : (!t, !sv.tensor<f32[]>) -> !t
  %1 = sv.div %x, %x : (!t, !t) -> !t
  return %0, %1 : !t, !t
}
"""


def scaled(factor):
    """y = factor * x"""
    return f"""
!t = !sv.tensor<f32[n]>
func.func @main(%x: !t {{sv.name = "x"}}) -> (!t {{sv.name = "y"}}) {{
  %k = sv.constant {{value = dense<{float(factor)}> : tensor<f32>}} : !sv.tensor<f32[]>
  %0 = sv.mul %x, %k : (!t, !sv.tensor<f32[]>) -> !t
  return %0 : !t
}}
"""


class Compiler:
    """Compiles models with the programs of a folder."""

    def __init__(self, programs):
        self.programs = pathlib.Path(programs)
        self.folder = tempfile.TemporaryDirectory()
        self.modules = {}

    def compiled(self, text, *options):
        """The bytes of the module of a model."""
        key = (text, options)
        if key not in self.modules:
            source = pathlib.Path(self.folder.name) / "model.mlir"
            module = pathlib.Path(self.folder.name) / "module.bc"
            source.write_text(text)
            self.run("compile", source, "-o", module, "--threads", 1, *options)
            self.modules[key] = module.read_bytes()
        return self.modules[key]

    def run(self, *arguments):
        command = [self.programs / "scopevm", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def add(self, repository, name, text, *options, version=1):
        """Puts the module of a model into the folder of a repository, under its final name only
        when it is complete."""
        folder = pathlib.Path(repository) / name / str(version)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / ".module"
        unfinished.write_bytes(self.compiled(text, *options))
        os.replace(unfinished, folder / "module.bc")
