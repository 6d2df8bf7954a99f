#!/usr/bin/env python3
"""How many instructions does a call cost in addition to its kernels, and do dynamic dims add to them?

    bench/call_instructions.py build/release/bin/scopevm models/ocr_rec.onnx p2o_DynamicDimension_0=1,...

Arguments come in pairs: a model, and a value for each of its dims. Each model is compiled three
times: with dynamic dims, for exactly these dims (`--dim`), and with dynamic dims and a variant for
these dims (`--variant`). Then callgrind counts the instructions of 2 calls and of 3 calls on one
thread, by library. The difference is the cost of a call in the steady state. Prints rows of
bench/README.md.

Models are compiled for x86-64-v3, because Valgrind does not support AVX-512. The counts do not
depend on the machine's load.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

FEW, MANY = 2, 3


def self_costs(path):
    """Instructions by object file, from a callgrind profile."""
    names, costs, current, is_call = {}, collections.Counter(), "", False
    for line in open(path):
        if match := re.match(r"c?ob=\((\d+)\)(?: (.*))?", line):
            if match[2]:
                names[match[1]] = match[2].strip()
            if line.startswith("ob="):
                current = names[match[1]]
        elif line.startswith("calls="):
            # The next line is the inclusive cost of the callee, which has its own lines.
            is_call = True
        elif re.match(r"[+*\d-]", line):
            if not is_call:
                costs[current] += int(line.split()[1])
            is_call = False
    return costs


def input_options(module, scopevm, dims):
    text = subprocess.run([scopevm, "inspect", module, "--json"], capture_output=True, text=True,
                          check=True).stdout
    options = []
    for tensor in json.loads(text)["functions"][0]["inputs"]:
        shape = "x".join(str(dims.get(dim, dim)) for dim in tensor["dims"])
        options += ["--input", f"{tensor['name']}=random:{shape}"]
    return options


def costs_of_call(scopevm, module, inputs, folder):
    totals = []
    for calls in (FEW, MANY):
        profile = os.path.join(folder, "profile")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", scopevm,
                   "run", module, *inputs, "--threads", "1", "--repeat", str(calls)]
        subprocess.run(command, capture_output=True, check=True)
        totals.append(self_costs(profile))
    each = {"vm": 0, "image": 0, "other": 0}
    for name in totals[1]:
        kind = "vm" if "libscopevm.so" in name else "image" if name == "???" else "other"
        each[kind] += (totals[1][name] - totals[0][name]) / (MANY - FEW)
    return each


def rows(scopevm, model, dims, folder):
    text = ",".join(f"{name}={value}" for name, value in dims.items())
    kinds = {"dynamic": [], "static": ["--dim", text], "variant": ["--variant", text]}
    for kind, options in kinds.items():
        module = os.path.join(folder, "module.bc")
        subprocess.run([scopevm, "compile", model, "-o", module, "--target-cpu", "x86-64-v3",
                        *options], check=True)
        costs = costs_of_call(scopevm, module, input_options(module, scopevm, dims), folder)
        name = os.path.splitext(os.path.basename(model))[0]
        shape = ", ".join(str(value) for value in dims.values())
        yield (f"| {name} | {shape} | {kind} | {costs['vm']:,.0f} | {costs['other']:,.0f} "
               f"| {costs['image']:,.0f} |")


def main():
    scopevm, *pairs = sys.argv[1:]
    print("| model | dims | compiled | libscopevm | C library | kernels and shape function |")
    print("| --- | --- | --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for model, text in zip(pairs[::2], pairs[1::2]):
            dims = {name: int(value) for name, value in
                    (part.split("=") for part in text.split(","))}
            for row in rows(scopevm, model, dims, folder):
                print(row, flush=True)


if __name__ == "__main__":
    main()
