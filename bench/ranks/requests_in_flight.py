#!/usr/bin/env python3
"""Does a pipeline over ranks serve more requests when several are in flight?

    bench/ranks/requests_in_flight.py build/release/bin/scopevm

Compiles the transformer of predicted_times.py with `--split pipeline=2`, and prints the throughput
and the latency of `scopevm bench --in-flight N` under mpirun. The rows are measured in alternation.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
from predicted_times import MPI, output_of, transformer  # noqa: E402

TOKENS, REQUESTS, ROUNDS = 128, 300, 5
IN_FLIGHT = [1, 2, 3, 4]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip().splitlines()[2].strip())
    parser.add_argument("scopevm")
    scopevm = os.path.abspath(parser.parse_args().scopevm)
    rows = {count: [] for count in IN_FLIGHT}
    with tempfile.TemporaryDirectory() as folder:
        model, module = pathlib.Path(folder) / "model.mlir", f"{folder}/model.bc"
        model.write_text(transformer())
        output_of([scopevm, "compile", str(model), "--split", "pipeline=2", "-o", module])
        for _ in range(ROUNDS):
            for count, results in rows.items():
                job = ["mpirun", "-n", "2", scopevm, "bench", module, f"n={TOKENS}", "--in-flight",
                       str(count), "--requests", str(REQUESTS), "--json", "-"]
                results.append(json.loads(output_of(job, env=os.environ | MPI)))
    print("| in flight | requests/s | slowest and fastest round | median latency, ms |\n"
          "| ---: | ---: | ---: | ---: |")
    for count, results in rows.items():
        rates = sorted(result["requests_per_second"] for result in results)
        latency = statistics.median(result["latency_us"]["median"] for result in results)
        print(f"| {count} | {statistics.median(rates):.0f} | {rates[0]:.0f} and {rates[-1]:.0f} | "
              f"{latency / 1e3:.1f} |")


if __name__ == "__main__":
    main()
