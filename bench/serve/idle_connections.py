#!/usr/bin/env python3
"""How long do the requests of a client take while other connections are idle, slow or abusive?

    idle_connections.py BUILD [--connections N] [--requests N]

Each line adds connections to those before: idle ones, some of which have sent a part of a request;
clients that send a byte each 10 ms; clients that send headers of 1 MiB, and connect again after the
refusal; clients that close their sending half, and connect again. Prints the latencies of one
client that sends requests one after the other. The client's process has the load, too.
"""

import argparse
import asyncio
import json
import pathlib
import resource
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/serve"))

import models  # noqa: E402
import raw_http  # noqa: E402
import server_process  # noqa: E402
from server_process import request, tensor  # noqa: E402

LIVE = b"GET /v2/health/live HTTP/1.1\r\nHost: test\r\n\r\n"
FEW = 20  # clients of a kind that sends
PAUSE = 0.1  # seconds before such a client connects again


class Load:

    def __init__(self, server):
        self.host, self.port = server.http.rsplit(":", 1)
        self.tasks, self.idle = [], []

    def connect(self):
        return asyncio.open_connection(self.host, self.port)

    def start(self, client):
        async def repeat():
            while True:
                try:
                    await client()
                except ConnectionError:
                    pass
        self.tasks += [asyncio.ensure_future(repeat()) for _ in range(FEW)]

    async def add_idle(self, count):
        for number in range(count):
            self.idle.append(await self.connect())
            self.idle[-1][1].write((b"GET /v2 HT", LIVE, b"")[number % 3])

    async def send_slowly(self):
        _, writer = await self.connect()
        for byte in LIVE:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.01)
        writer.close()

    async def send_large_header(self):
        reader, writer = await self.connect()
        try:
            writer.write(b"GET /v2 HTTP/1.1\r\nX: " + b"a" * (1 << 20))
            await reader.read()
        finally:
            writer.close()
        await asyncio.sleep(PAUSE)

    async def close_one_half(self):
        reader, writer = await self.connect()
        try:
            writer.write(LIVE[:20])
            writer.write_eof()
            await reader.read()
        finally:
            writer.close()
        await asyncio.sleep(PAUSE)


async def measure(load, count):
    """The latencies of 50 % and 99 % in us."""
    sent = request(tensor("x", "FP32", [2], [1, 2]))
    data = raw_http.post("/v2/models/twice/infer", json.dumps(sent).encode())
    reader, writer = await load.connect()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        writer.write(data)
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        body = await reader.readexactly(size)
        times.append(time.perf_counter() - start)
        assert json.loads(body)["outputs"][0]["data"] == [2, 4]
    writer.close()
    times.sort()
    return (1e6 * times[int(share * (count - 1))] for share in (0.5, 0.99))


async def run(options, server):
    load = Load(server)
    print("| connections | median | 99 % | resident |")
    print("| --- | ---: | ---: | ---: |")

    async def line(name):
        p50, p99 = await measure(load, options.requests)
        memory = server.resident_bytes() / (1 << 20)
        print(f"| {name} | {p50:.0f} us | {p99:.0f} us | {memory:.0f} MiB |", flush=True)
    await measure(load, options.requests)
    await line("one")
    await load.add_idle(options.connections)
    await line(f"{options.connections} idle ones")
    for name, client in (("slow", load.send_slowly), ("large headers", load.send_large_header),
                         ("half-closed", load.close_one_half)):
        load.start(client)
        await line(f"and {FEW} clients: {name}")
    for task in load.tasks:
        task.cancel()
    await asyncio.gather(*load.tasks, return_exceptions=True)
    for _, writer in load.idle:
        writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=5000)
    options = parser.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    server_process.compiler = models.Compiler(options.build / "bin")
    with tempfile.TemporaryDirectory() as folder:
        server_process.compiler.add(folder, "twice", models.scaled(2))
        with server_process.running(folder) as server:
            asyncio.run(run(options, server))


if __name__ == "__main__":
    main()
