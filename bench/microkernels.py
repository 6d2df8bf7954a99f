#!/usr/bin/env python3
"""What limits the micro-kernels of contractions and convolutions on CPUs that are not at hand?

    bench/microkernels.py build/release/bin/scopevm           prints a table for each CPU
    bench/microkernels.py build/release/bin/scopevm --check   exits with 1 if one misses a goal

Compiles layers for each CPU, finds the micro-kernels in the disassembled image, and simulates their
inner loops with llvm-mca. README.md describes the columns, the models of CPUs and the goals.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LEAST_THROUGHPUT = 98  # percent of the multiply-adds that the CPU can execute
MOST_LOADS = 75  # percent of the time of the load ports
# A layer's other tiles compute what remains; they have no goals.
FULL_TILE = 5 / 6  # of the multiplications of the layer's largest tile


@dataclasses.dataclass(frozen=True)
class Cpu:
    """A CPU for which kernels are compiled, and the model of llvm-mca that simulates them."""
    name: str
    model: str
    multiplies: int  # per cycle, of whole vectors
    load_ports: str  # regular expression: the model's units that execute loads of whole vectors
    units: int  # the number of these units
    goals: tuple = ()  # "throughput", "loads"
    # Instructions to which the model assigns units that they do not use, and instructions with the
    # right ones: a regular expression and its replacement.
    correction: tuple = ("$^", "")


PLAIN_LOAD = r"^(?:vmovups|vmovaps|vmovdq[au]\d*|vp?broadcast[sd]\w*) (.*\)), (%zmm\d+)$"
BROADCAST = r"^vp?broadcast[sd]\w* (.*\)), (%zmm\d+)$"
CPUS = (
    # The model adds a unit of ports 0, 1 and 5 to loads of 512 bits, but not to vmovntdqa.
    Cpu("skylake-avx512", "skylake-avx512", 2, "Port[23]$", 2, ("throughput", "loads"),
        (PLAIN_LOAD, r"vmovntdqa \1, \2")),
    Cpu("cascadelake", "cascadelake", 2, "Port[23]$", 2, ("throughput", "loads"),
        (PLAIN_LOAD, r"vmovntdqa \1, \2")),
    # The model adds a multiplier to broadcasts from memory, but not to other loads.
    Cpu("znver4", "znver4", 1, "FP45", 2, ("throughput",), (BROADCAST, r"vmovups \1, \2")),
    Cpu("haswell", "haswell", 2, "Port[23]$", 2),
    Cpu("x86-64", "sandybridge", 1, "Port23", 2),
)


# --- Layers ---------------------------------------------------------------------------------------

def tensor(dims, element="f32"):
    return f"!sv.tensor<{element}[{', '.join(map(str, dims))}]>"


def function(x, w_dims, w_element, y, op, attributes=""):
    """A graph that computes y with an op of the input x and constant weights."""
    w = tensor(w_dims, w_element)
    value = "0.25" if w_element == "f32" else "-3"
    constant = f"dense<{value}> : tensor<{'x'.join(map(str, w_dims))}x{w_element}>"
    return (f"func.func @main(%x: {x}) -> {y} {{\n"
            f"  %w = sv.constant {{value = {constant}}} : {w}\n"
            f"  %y = sv.{op} %x, %w {attributes}: ({x}, {w}) -> {y}\n"
            f"  return %y : {y}\n}}\n")


@dataclasses.dataclass(frozen=True)
class Conv:
    """A convolution of a square image whose result has as many pixels, divided by the stride."""
    channels: int
    outputs: int
    kernel: int
    size: object  # a number or the name of a dim
    stride: int = 1
    layout: str = "blocked"

    def __str__(self):
        stride = f" stride {self.stride}" if self.stride > 1 else ""
        layout = "" if self.layout == "blocked" else ", " + self.layout
        return f"{self.kernel}x{self.kernel} {self.channels}->{self.outputs} at {self.size}" \
               f"{stride}{layout}"

    @property
    def blocks(self):
        return (self.outputs + 15) // 16

    def text(self):
        pad = self.kernel // 2
        size = self.size
        if isinstance(size, int):
            size = (size + 2 * pad - self.kernel) // self.stride + 1
        return function(
            tensor((1, self.channels, self.size, self.size)),
            (self.outputs, self.channels, self.kernel, self.kernel), "f32",
            tensor((1, self.outputs, size, size)), "conv",
            f"{{strides = array<i64: {self.stride}, {self.stride}>, dilations = array<i64: 1, 1>, "
            f"pads = array<i64: {pad}, {pad}, {pad}, {pad}>, group = 1 : i64}} ")


@dataclasses.dataclass(frozen=True)
class MatMul:
    """A product of a matrix and a constant."""
    rows: object  # a number or the name of a dim
    depth: int
    columns: int
    element: str = "f32"

    layout = "auto"

    def __str__(self):
        kind = "" if self.element == "f32" else " of bytes"
        return f"matmul{kind} {self.rows}x{self.depth} {self.depth}x{self.columns}"

    @property
    def blocks(self):
        return (self.columns + 15) // 16

    def text(self):
        a, b, c = ("f32", "f32", "f32") if self.element == "f32" else ("u8", "i8", "i32")
        return function(tensor((self.rows, self.depth), a), (self.depth, self.columns), b,
                        tensor((self.rows, self.columns), c), "matmul")


LAYERS = (
    *(Conv(64, outputs, kernel, size) for kernel in (3, 1) for outputs in (16, 32, 48, 64, 80, 128)
      for size in (7, 14, 28, 56)),
    Conv(64, 112, 3, 14), Conv(64, 112, 1, 14),
    Conv(512, 512, 3, 7), Conv(512, 2048, 1, 7), Conv(2048, 512, 1, 7), Conv(256, 512, 1, 28),
    Conv(64, 128, 3, 56, 2), Conv(256, 512, 3, 14, 2), Conv(256, 512, 1, 28, 2),
    Conv(3, 32, 3, 224, 2), Conv(3, 64, 7, 224, 2), Conv(3, 64, 3, 224),
    Conv(64, 64, 3, "n"), Conv(64, 64, 1, "n"), Conv(64, 64, 3, 28, layout="by-channel"),
    MatMul(128, 768, 768), MatMul("m", 768, 768), MatMul("m", 768, 768, "bytes"),
)


# --- Micro-kernels --------------------------------------------------------------------------------

MULTIPLY = re.compile(r"vfn?m(add|sub)|v?mulps|vpdpbusd|v?pmaddwd")
# The functions of micro-kernels, without those that only call them.
NAME = re.compile(r"func\.func private @(?:blocked_tile_|contraction_tile_"
                  r"(?!(?:rows|interleaved)(?:_quads)?\())(\w+?)(?:_\d+_[0-9a-f]{16})?\(")


@dataclasses.dataclass(frozen=True)
class Instruction:
    address: int
    text: str

    @property
    def mnemonic(self):
        return self.text.split()[0]

    @property
    def is_vector_load(self):
        return bool(re.search(r"\(%.*mm\d+$", self.text))

    @property
    def target(self):
        """The address to which a jump or call with a constant address goes."""
        match = re.match(r"(?:j\w+|callq?)\s+(?:0x)?([0-9a-f]+)$", self.text)
        return int(match[1], 16) if match else None


@dataclasses.dataclass
class Kernel:
    name: str
    layers: list
    loop: list
    has_goals: bool = False

    def count(self, condition):
        return sum(bool(condition(instruction)) for instruction in self.loop)

    @property
    def multiplies(self):
        return self.count(lambda i: MULTIPLY.match(i.mnemonic))

    @property
    def is_f32(self):
        return "quads" not in self.name

    def assembly(self, label):
        lines = [i.text for i in self.loop[:-1]] + [f"{self.loop[-1].mnemonic} {label}"]
        return f"{label}:\n" + "\n".join(lines) + "\n"


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, timeout=300, **options)
    if done.returncode != 0:
        sys.exit(f"microkernels: {command[0]}: {done.stderr.strip()}")
    return done.stdout


def functions_of(listing):
    """Returns the name and the instructions of each function of a disassembled image. Private
    functions have no symbol in an image: their addresses are those of calls, and their name is
    None."""
    names, instructions = {}, []
    for line in listing.splitlines():
        if match := re.match(r"([0-9a-f]+) <(.+)>:", line):
            # The disassembler gives a first function without a symbol the name of its section.
            names[int(match[1], 16)] = None if match[2].startswith(".") else match[2]
        elif match := re.match(r"\s*([0-9a-f]+):\s+(\S.*)", line):
            text = re.sub(r"\s*(<.*>|#.*)", "", match[2].replace("\t", " ")).strip()
            instructions.append(Instruction(int(match[1], 16), text))
    for instruction in instructions:
        if instruction.mnemonic.startswith("call") and instruction.target is not None:
            names.setdefault(instruction.target, None)
    functions = []
    for instruction in instructions:
        if instruction.address in names:
            functions.append((names[instruction.address], []))
        functions[-1][1].append(instruction)
    return functions


def inner_loop(body):
    """The loop without other jumps that has the most multiplications; none: an empty list."""
    index = {instruction.address: i for i, instruction in enumerate(body)}
    targets = {i.target for i in body if i.mnemonic.startswith("j")}
    best = Kernel("", [], [])
    for end, jump in enumerate(body):
        begin = index.get(jump.target, end + 1)
        if begin > end or not jump.mnemonic.startswith("j"):
            continue
        loop = body[begin:end + 1]
        has_jumps = any(i.mnemonic.startswith(("j", "call", "ret")) for i in loop[:-1]) or any(
            i.address in targets for i in loop[1:])
        if not has_jumps:
            best = max(best, Kernel("", [], loop), key=lambda kernel: kernel.multiplies)
    return best.loop


def kernels_of(tools, cpu, layer, folder):
    """Compiles a layer and returns its micro-kernels."""
    model, module, image = (folder / name for name in ("layer.mlir", "layer.bc", "layer.so"))
    model.write_text(layer.text())
    names = NAME.findall(run(tools.scopevm, "compile", model, "-o", module, "--target-cpu",
                             cpu.name, "--threads", "1", "--image-layout", layer.layout,
                             "--dump-after", "codegen"))
    content = module.read_bytes()
    image.write_bytes(content[content.index(b"\x7fELF"):])
    listing = run(tools.llvm / "llvm-objdump", "-d", "--no-show-raw-insn", image)
    loops = [inner_loop(body) for name, body in functions_of(listing) if name is None]
    loops = [loop for loop in loops if loop]
    # One thread compiles the functions in the order of the program.
    if len(loops) != len(names):
        sys.exit(f"microkernels: {layer} for {cpu.name}: {len(loops)} private functions with a "
                 f"loop, expected {len(names)}: {', '.join(names)}")
    kernels = [Kernel(name, [str(layer)], loop) for name, loop in zip(names, loops)]
    least = FULL_TILE * max(kernel.multiplies for kernel in kernels)
    for kernel in kernels:
        kernel.has_goals = layer.blocks >= 2 and kernel.multiplies >= least and kernel.is_f32
    return kernels


def distinct_kernels(tools, cpu, layers, folder):
    """The micro-kernels of the layers. Those with the same name and loop are one."""
    found = {}
    for layer in layers:
        for kernel in kernels_of(tools, cpu, layer, folder):
            text = re.sub(r"0x[0-9a-f]+", "", kernel.assembly(""))
            known = found.setdefault((kernel.name, text), kernel)
            if known is not kernel:
                # The first layer is printed: one for which the kernel has goals, if there is one.
                is_first = kernel.has_goals and not known.has_goals
                known.layers = (kernel.layers + known.layers if is_first
                                else known.layers + kernel.layers)
                known.has_goals |= kernel.has_goals
    return list(found.values())


# --- Simulation -----------------------------------------------------------------------------------

ITERATIONS = (100, 300)  # the difference is the steady state


def simulate(tools, cpu, texts):
    """Returns the cycles of an iteration of each loop, and how long it uses each unit."""
    source = "".join(f"# LLVM-MCA-BEGIN {i}\n{text}# LLVM-MCA-END {i}\n"
                     for i, text in enumerate(texts))
    cycles = []
    for iterations in ITERATIONS:
        output = json.loads(run(tools.llvm / "llvm-mca", "-mtriple=x86_64", f"-mcpu={cpu.model}",
                                f"-iterations={iterations}", "-json", input=source))
        regions = sorted(output["CodeRegions"], key=lambda region: int(region["Name"]))
        cycles.append([region["SummaryView"]["TotalCycles"] for region in regions])
    units = output["TargetInfo"]["Resources"]
    results = []
    for region, first, last in zip(regions, *cycles):
        total = len(region["Instructions"])  # the row of the whole loop
        use = {units[row["ResourceIndex"]]: row["ResourceUsage"]
               for row in region["ResourcePressureView"]["ResourcePressureInfo"]
               if row["InstructionIndex"] == total}
        results.append(((last - first) / (ITERATIONS[1] - ITERATIONS[0]), use))
    return results


def rows_of(tools, cpu, kernels):
    """Returns a row of the table for each kernel."""
    texts = [kernel.assembly(f".Lloop{i}") for i, kernel in enumerate(kernels)]
    model = simulate(tools, cpu, texts)
    corrected = model if tools.uncorrected else simulate(
        tools, cpu, [re.sub(*cpu.correction, text, flags=re.MULTILINE) for text in texts])
    for kernel, (model_cycles, _), (cycles, use) in zip(kernels, model, corrected):
        busiest = max(use, key=use.get)
        loads = sum(time for unit, time in use.items() if re.search(cpu.load_ports, unit))
        row = {
            "cpu": cpu.name, "kernel": kernel.name, "layer": kernel.layers[0],
            "layers": len(kernel.layers), "multiplies": kernel.multiplies,
            "loads": kernel.count(lambda i: i.is_vector_load),
            "prefetches": kernel.count(lambda i: i.mnemonic.startswith("prefetch")),
            "spills": kernel.count(lambda i: re.search(r"\(%rsp.*mm|mm.*\(%rsp", i.text)),
            "cycles": cycles, "model_cycles": model_cycles,
            "throughput": 100 * kernel.multiplies / cycles / cpu.multiplies,
            "model_throughput": 100 * kernel.multiplies / model_cycles / cpu.multiplies,
            "busiest": busiest.replace("\0", ""), "busiest_use": 100 * use[busiest] / cycles,
            "load_use": 100 * loads / cycles / cpu.units, "misses": [],
        }
        if kernel.has_goals and "throughput" in cpu.goals and row["throughput"] < LEAST_THROUGHPUT:
            row["misses"].append("throughput")
        if kernel.has_goals and "loads" in cpu.goals and row["load_use"] > MOST_LOADS:
            row["misses"].append("loads")
        if kernel.has_goals and cpu.goals and row["spills"]:
            row["misses"].append("spills")
        yield row


def print_table(cpu, rows):
    print(f"\n{cpu.name} (llvm-mca -mcpu={cpu.model}), multiplications per cycle: "
          f"{cpu.multiplies}\n")
    print("| kernel | layer | multiplies | loads | prefetches | spills | cycles | of peak "
          "| uncorrected | busiest | load ports | misses |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | --- |")
    for row in rows:
        more = f" and {row['layers'] - 1} more" if row["layers"] > 1 else ""
        print(f"| {row['kernel']} | {row['layer']}{more} | {row['multiplies']} | {row['loads']} "
              f"| {row['prefetches']} | {row['spills']} | {row['cycles']:.1f} "
              f"| {row['throughput']:.1f} % | {row['model_throughput']:.1f} % "
              f"| {row['busiest']} {row['busiest_use']:.0f} % | {row['load_use']:.0f} % "
              f"| {', '.join(row['misses'])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("scopevm", type=pathlib.Path)
    parser.add_argument("--llvm", type=pathlib.Path, default="/usr/lib/llvm-19/bin",
                        help="folder of llvm-mca and llvm-objdump (default: %(default)s)")
    parser.add_argument("--cpu", action="append", choices=[cpu.name for cpu in CPUS],
                        help="one of the CPUs; can be repeated (default: all)")
    parser.add_argument("--layer", default="", metavar="REGEX",
                        help="layers whose names match, such as '1x1 .* at 7' or matmul")
    parser.add_argument("--uncorrected", action="store_true",
                        help="do not correct the models of loads")
    parser.add_argument("--goals", action="store_true", help="only kernels that have goals")
    parser.add_argument("--json", action="store_true", help="one JSON object per kernel")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 if a kernel misses a goal")
    options = parser.parse_args()
    layers = [layer for layer in LAYERS if re.search(options.layer, str(layer))]
    misses = 0
    with tempfile.TemporaryDirectory() as folder:
        for cpu in CPUS:
            if options.cpu and cpu.name not in options.cpu:
                continue
            kernels = distinct_kernels(options, cpu, layers, pathlib.Path(folder))
            if options.goals:
                kernels = [kernel for kernel in kernels if kernel.has_goals]
            rows = list(rows_of(options, cpu, kernels))
            misses += sum(bool(row["misses"]) for row in rows)
            if options.json:
                print("\n".join(map(json.dumps, rows)))
            else:
                print_table(cpu, rows)
    if options.check and misses:
        sys.exit(f"microkernels: {misses} kernels miss a goal")


if __name__ == "__main__":
    main()
