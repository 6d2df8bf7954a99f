#!/usr/bin/env python3
"""How long does a model take to compile, where does the time go, and how much memory does it need?

    bench/compile_time.py build/release/bin/scopevm models/*.onnx

Compiles each model three times to memory and prints a row of bench/README.md for the fastest
compilation: the time, the share of each stage in per cent, the peak memory of the process, and the
limit of this memory. The limit is three times the model's size plus 500 MB. Models that do not
compile are listed with the reason.
"""
import json
import os
import subprocess
import sys

ROUNDS = 3
STAGES = ["frontend", "graph", "kernels", "memory", "codegen", "bytecode"]


def compile_once(scopevm, model):
    command = [scopevm, "compile", model, "--timing", "--json"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    return json.loads(result.stdout)


def row(scopevm, model):
    best = min((compile_once(scopevm, model) for _ in range(ROUNDS)), key=lambda t: t["seconds"])
    seconds = {stage["stage"]: stage["seconds"] for stage in best["stages"]}
    shares = [f"{100 * seconds[stage] / best['seconds']:.0f}" for stage in STAGES]
    size = os.path.getsize(model) / 1e6
    name = os.path.splitext(os.path.basename(model))[0]
    cells = [name, f"{size:.1f}", f"{best['seconds']:.2f}", *shares,
             f"{best['peak_bytes'] / 1e6:.0f}", f"{3 * size + 500:.0f}"]
    return "| " + " | ".join(cells) + " |"


def main():
    scopevm, *models = sys.argv[1:]
    print("| model | size | time, s | " + " | ".join(STAGES) + " | peak | limit |")
    print("| --- " + "| ---: " * (len(STAGES) + 4) + "|")
    failures = []
    for model in models:
        try:
            print(row(scopevm, model), flush=True)
        except RuntimeError as error:
            failures.append(f"* {error}")
    print("\n".join(["", *failures]))


if __name__ == "__main__":
    main()
