#!/usr/bin/env python3
"""Checks that a pool that nothing requires makes no model fail, and none more expensive.

Places random graphs on two devices, with and without an additional pool with a random limit. No
placement rule requires this pool. If `scopevm explain --copies` succeeds without the pool, it must
also succeed with the pool, and copies and spills must not cost more.

    optional_pool.py SCOPEVM [GRAPHS [FIRST_SEED]]
"""
import json
import os
import random
import subprocess
import sys
import tempfile

ELEMENTS = 4096
TYPE = f"!sv.tensor<f32[{ELEMENTS}]>"


def random_graph(rng):
    """The assembly of a graph with one input, and placement rules for some of its ops."""
    lines, values, rules = [], ["%x"], []
    for i in range(rng.randint(2, 7)):
        operands = [rng.choice(values[-3:]) for _ in range(rng.choice([1, 1, 2]))]
        if len(operands) == 2:
            op, attributes = rng.choice(["add", "sub", "mul"]), ""
        else:
            op, attributes = rng.choice([("neg", ""), ("exp", ""), ("softmax", " {axis = 0 : i64}"),
                                         ("cum_sum", " {axis = 0 : i64}")])
        types = ", ".join([TYPE] * len(operands))
        lines.append(f'  %{i} = sv.{op} {", ".join(operands)}{attributes} : ({types}) -> {TYPE} '
                     f'loc("n{i}")')
        values.append(f"%{i}")
        if rng.random() < 0.6:
            rules += ["--place", f"n{i}={rng.choice(['cpu', 'npu'])}"]
    return (f'func.func @main(%x: {TYPE} {{sv.name = "x"}}) -> ({TYPE} {{sv.name = "y"}}) {{\n'
            + "\n".join(lines) + f"\n  return {values[-1]} : {TYPE}\n}}\n"), rules


def random_pool(rng):
    device = rng.choice(["cpu", "npu"])
    pool = {"device": device, "scope": "global.more",
            "limit_bytes": rng.choice([1000, 17000, 20000, 33000, 40000, 60000]),
            "read_bytes_per_second": rng.choice([1e9, 50e9]),
            "write_bytes_per_second": rng.choice([1e9, 50e9]),
            "burst_bytes": rng.choice([1, 4096]),
            "latency_seconds": rng.choice([1e-7, 1e-5])}
    if rng.random() < 0.5:
        pool["reached_by"] = ["npu" if device == "cpu" else "cpu"]
    return pool


def cost(scopevm, model, rules, pools, folder):
    """Returns the seconds of copies and spills in a call, and the report of the compiler.

    After an error of the compiler, returns None and the error message.
    """
    machine = os.path.join(folder, "machine.json")
    with open(machine, "w", encoding="utf-8") as file:
        json.dump({"devices": [{"name": name, "kind": "cpu", "max_stack_bytes": 0}
                               for name in ("cpu", "npu")], "pools": pools}, file)
    run = subprocess.run([scopevm, "explain", model, "--machine", machine, "--copies", "--json",
                          "--allow-unmatched", *rules], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return None, run.stderr
    report = json.loads(run.stdout)
    copies = sum(copy["seconds"] * copy["times"] for copy in report.get("copies", [])
                 if not copy.get("is_spill"))
    return copies + sum(limit["seconds"] for limit in report.get("limits", [])), run.stdout


def main():
    scopevm = sys.argv[1]
    graphs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + graphs):
            rng = random.Random(seed)
            text, rules = random_graph(rng)
            model = os.path.join(folder, "model.mlir")
            with open(model, "w", encoding="utf-8") as file:
                file.write(text)
            pool = random_pool(rng)
            without, _ = cost(scopevm, model, rules, [], folder)
            with_pool, report = cost(scopevm, model, rules, [pool], folder)
            if without is None or (with_pool is not None and with_pool <= without * (1 + 1e-6)):
                continue
            sys.exit(f"seed {seed}: cost {without} without the pool, {with_pool} with it\n{text}"
                     f"{rules}\n{pool}\n{report}")
    print(f"{graphs} graphs")


if __name__ == "__main__":
    main()
