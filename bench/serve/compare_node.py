#!/usr/bin/env python3
"""How many requests do `scopevm serve` and a server on ONNX Runtime answer?

    compare_node.py BUILD MODELS [--seconds S] [--rounds N] [NAME...]

MODELS is the folder of `./dev models`. SCOPEVM_COMPARE_MODULES is the folder of the package
onnxruntime-node. The client is the same program for both, with 1 and 32 connections: it sends
requests with binary data and compares no results (`./dev compare` does). The servers are loaded
alternately, and a number is the best one of the rounds, because other programs only make it worse.
The servers are:

    scopevm       --threads 2
    batched       --threads 2; up to 8 requests are joined along the first dimension
    node          Node's HTTP server with onnxruntime-node, and its default threads of a call
    node, tuned   one thread for each call; Node runs up to four calls at once
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/serve"))

import async_http  # noqa: E402
import raw_http  # noqa: E402

def floats(seeded, *shape):
    count = 1
    for dim in shape:
        count *= dim
    block = struct.pack("<64f", *(seeded.uniform(-1, 1) for _ in range(64)))
    return "FP32", shape, (block * (count // 64 + 1))[:4 * count]


def integers(values):
    return "INT64", (1, len(values)), struct.pack(f"<{len(values)}q", *values)


def image(seeded):
    return {"input": floats(seeded, 1, 3, 224, 224)}


def line_of_text(seeded):
    return {"x": floats(seeded, 1, 3, 48, seeded.choice((100, 160, 320)))}


def tokens(*lengths):
    def inputs(seeded):
        length = seeded.choice(lengths)
        return {"input_ids": integers([seeded.randrange(30000) for _ in range(length)]),
                "attention_mask": integers([1] * length), "token_type_ids": integers([0] * length)}
    return inputs


# By name: the file, the dimension along which requests are joined, and the inputs.
MODELS = {"mobilenet_v2": ("mobilenet_v2", "batch", image),
          "ocr_rec": ("ocr_rec", "p2o.DynamicDimension.0", line_of_text),
          "bert_2layer": ("bert_2layer", "batch", tokens(16, 32, 64)),
          "bert_2layer, 4 tokens": ("bert_2layer", "batch", tokens(4))}
MOST = 8  # requests that are joined
CONNECTIONS = (1, 32)


def request(inputs):
    listed = [{"name": name, "datatype": datatype, "shape": shape,
               "parameters": {"binary_data_size": len(data)}}
              for name, (datatype, shape, data) in inputs.items()]
    text = json.dumps({"inputs": listed, "parameters": {"binary_data_output": True}}).encode()
    return text, b"".join(data for _, _, data in inputs.values())


class Client(async_http.Connection):

    def __init__(self, address, requests, end, seconds):
        super().__init__(address)
        self.requests, self.end, self.seconds = requests, end, seconds

    def next_request(self):
        self.start = time.perf_counter()
        return None if self.start > self.end else random.choice(self.requests)

    def answered(self, status, body):
        if status != 200:
            raise AssertionError(f"{status}: {body[:200]!r}")
        self.seconds.append(time.perf_counter() - self.start)


async def load(address, requests, connections, duration):
    """Requests per second, and latencies in ms: the mean, 50 % and 99 %."""
    seconds, start = [], time.perf_counter()
    clients = [Client(address, requests, start + duration, seconds) for _ in range(connections)]
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, context: [client.ended.cancel() for client in clients] or print(context))
    for client in clients:
        await client.connect()
    await asyncio.gather(*(client.ended for client in clients))
    total = time.perf_counter() - start
    ordered = sorted(seconds)
    quantiles = (1e3 * ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
    return len(ordered) / total, 1e3 * sum(ordered) / len(ordered), *quantiles


def start(command, until):
    """Starts a server that prints `http ADDRESS`, and `until` when it is ready. Returns its process
    and its address."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("http "):
            address = line.split()[1]
        if line.startswith(until):
            return process, address
    raise AssertionError(f"{command} ended")


def start_servers(build, model, dim, folder):
    """The processes, and (address, path) by the name of the server."""
    for served, config in (("plain", {}), ("batched", {"batch": {"dim": dim, "max": MOST}})):
        (folder / served / "1").mkdir(parents=True)
        (folder / served / "1/model.onnx").symlink_to(model)
        (folder / served / "config.json").write_text(json.dumps(config))
    node = ["node", SOURCE / "bench/serve/node_server.mjs", model]
    started = [start([build / "bin/scopevm", "serve", folder, "--http", "127.0.0.1:0", "--grpc",
                      "none", "--metrics", "none", "--threads", 2], "ready"),
               start([*node, 0], "http"), start([*node, 1], "http")]
    processes, addresses = zip(*started)
    return processes, {"scopevm": (addresses[0], "/v2/models/plain/infer"),
                       "batched": (addresses[0], "/v2/models/batched/infer"),
                       "node": (addresses[1], "/"), "node, tuned": (addresses[2], "/")}


def measure(options, servers, bodies):
    """The measurements by connections and server, one for each round after the first."""
    measured = {}
    for number in range(options.rounds + 1):
        for connections in CONNECTIONS:
            for kind, (address, path) in servers.items():
                requests = [raw_http.post(path, text + data,
                                          f"Inference-Header-Content-Length: {len(text)}")
                            for text, data in bodies]
                duration = options.seconds if number > 0 else 1  # the first round warms up
                result = asyncio.run(load(address, requests, connections, duration))
                if number > 0:
                    measured.setdefault((connections, kind), []).append(result)
                time.sleep(0.2)
    return measured


def compare(options, name):
    file, dim, inputs = MODELS[name]
    seeded = random.Random(1)
    bodies = [request(inputs(seeded)) for _ in range(30)]
    with tempfile.TemporaryDirectory() as folder:
        processes, servers = start_servers(options.build, options.models / f"{file}.onnx", dim,
                                           pathlib.Path(folder))
        try:
            measured = measure(options, servers, bodies)
        finally:
            for process in processes:
                process.terminate()
                process.wait()
    for (connections, kind), rounds in measured.items():
        rates, *latencies = zip(*rounds)
        texts = " | ".join(f"{min(values):.1f} ms" for values in latencies)
        print(f"| {name} | {connections} | {kind} | {max(rates):.1f} | {texts} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    options = parser.parse_args()
    options.models = options.models.resolve()
    if "SCOPEVM_COMPARE_MODULES" not in os.environ:
        parser.error("SCOPEVM_COMPARE_MODULES is not set")
    print("| model | connections | server | requests/s | mean | median | 99 % |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for name in options.names or MODELS:
        compare(options, name)


if __name__ == "__main__":
    main()
