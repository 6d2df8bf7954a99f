"""Load of many clients: mixed models and shapes, wrong, late and abandoned requests. Each client is
a connection, which sends a request after the answer to the one before. Every answer is compared
with the expected one."""

import array
import asyncio
import dataclasses
import json
import random
import struct
import time
from collections.abc import Callable

import async_http
import models
import raw_http
import server_process
from server_process import JSON_BYTES, blob, floats, request, tensor

LONG = 10**9  # iterations: about a minute
POOL = "cpu.global"
CAPACITY = 4 << 20  # of POOL; some of the requests that POOL must hold at once need 1 MiB
CONFIGS = {"batched": {"batch": {"dim": "n"}}, "sum": {"sequences": {"states": {"h": "hn"}}},
           "growing": {"sequences": {"dims": {"m_capacity": 64}}},
           "strings": {"data_budgets": {"global": "64KiB"}}}
SHARES = {"wrong": 0.01, "abandoned": 0.01, "late": 0.01, "large": 0.01}  # the others: alike


def add_models(folder):
    add = server_process.compiler.add
    add(folder, "scaled", models.scaled(3))
    add(folder, "batched", models.scaled(2))
    add(folder, "pair", models.PAIR)
    add(folder, "strings", models.copy_of("str"))
    add(folder, "slow", models.SLOW)
    add(folder, "sum", models.SUM)
    add(folder, "growing", models.GROWING, "--state", "rows=grown", "--dim", "m=0..64",
        "--dim", "k=1..8")
    for name, config in CONFIGS.items():
        (folder / name / "config.json").write_text(json.dumps(config))


def select(seeded, kinds):
    """One of SHARES, or one of the other kinds of requests."""
    at = seeded.random()
    for kind, share in SHARES.items():
        if at < share:
            return kind
        at -= share
    return seeded.choice(kinds)


class Times:
    """Latencies by kind of request, and answers that were not expected."""

    def __init__(self):
        self.seconds, self.wrong = {}, []

    def add(self, kind, seconds):
        self.seconds.setdefault(kind, array.array("d")).append(seconds)

    def count(self):
        return sum(map(len, self.seconds.values()))

    def lines(self):
        for kind, seconds in sorted(self.seconds.items()):
            ordered = sorted(seconds)
            p50, p99 = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
            yield f"{kind:<12} {len(ordered):>8} {1e3 * p50:>9.2f} ms {1e3 * p99:>9.2f} ms"


@dataclasses.dataclass
class Sent:
    """A request, and what its answer must be."""
    data: bytes
    status: int = 200
    is_body: Callable = None  # null: any


def infer(model, sent, binary=None):
    """The bytes of a request."""
    text = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    headers = [] if binary is None else [f"{JSON_BYTES}: {len(text)}"]
    return raw_http.post(f"/v2/models/{model}/infer", text + (binary or b""), *headers)


def same_body(response, name, shape, values, is_binary):
    """Checks the first response by value. The following ones must have the same bytes."""
    status, headers, body = response
    end = int(headers.get(JSON_BYTES.lower(), len(body)))
    (output,) = json.loads(body[:end])["outputs"]
    found = body[end:] if is_binary else output["data"]
    if (status, output["name"], output["shape"], found) != (200, name, shape, values):
        raise AssertionError(f"{status}: {body[:end]!r}")
    return body.__eq__


class HttpRequests:
    """The requests of all clients that have no state. They are made once."""

    def __init__(self, server, count=20):
        self.server, self.random = server, random.Random(3)
        self.of_kind = {
            kind: [getattr(self, kind)() for _ in range(count)]
            for kind in ("json", "binary", "strings", "batched", "large", "wrong", "late")}

    def numbers(self, count):
        return [float(self.random.randint(-99, 99)) for _ in range(count)]

    def known(self, data, *expected):
        return Sent(data, 200, same_body(raw_http.exchange(self.server, data), *expected))

    def json(self):
        x = self.numbers(self.random.choice((1, 3, 16, 200)))
        data = infer("scaled", request(tensor("x", "FP32", [len(x)], x)))
        return self.known(data, "y", [len(x)], [3 * value for value in x], False)

    def batched(self):
        x = self.numbers(self.random.choice((1, 2, 5)))
        data = infer("batched", request(tensor("x", "FP32", [len(x)], x)))
        return self.known(data, "y", [len(x)], [2 * value for value in x], False)

    def binary(self):
        rows = self.random.choice((1, 2, 8, 50))
        a, b = self.numbers(3 * rows), self.numbers(3 * rows)
        sent = request(*(blob(name, "FP32", [rows, 3], 12 * rows) for name in "ab"),
                       outputs=[{"name": "product", "parameters": {"binary_data": True}}])
        products = floats([x * y for x, y in zip(a, b)])
        return self.known(infer("pair", sent, floats(a) + floats(b)), "product", [rows, 3],
                          products, True)

    def large(self):
        count = 1 << self.random.choice((14, 16, 18))
        x = floats(self.numbers(1))
        sent = request(blob("x", "FP32", [count], 4 * count),
                       parameters={"binary_data_output": True})
        y = floats([3 * struct.unpack("<f", x)[0]])
        return self.known(infer("scaled", sent, x * count), "y", [count], y * count, True)

    def strings(self):
        texts = ["\u4e16" * self.random.randint(0, 30) for _ in range(self.random.randint(1, 9))]
        data = b"".join(struct.pack("<I", len(text)) + text for text in
                        (text.encode() for text in texts))
        if self.random.random() < 0.5:
            sent = request(tensor("in", "BYTES", [len(texts)], texts))
            return self.known(infer("strings", sent), "out", [len(texts)], texts, False)
        sent = request(blob("in", "BYTES", [len(texts)], len(data)),
                       parameters={"binary_data_output": True})
        return self.known(infer("strings", sent, data), "out", [len(texts)], data, True)

    def wrong(self):
        x = tensor("x", "FP32", [2], [1, 2])
        choices = [infer("none", request(x)), infer("scaled", b"{"), infer("scaled", request()),
                   infer("scaled", request({**x, "shape": [3]})),
                   infer("scaled", request({**x, "datatype": "FP33"})),
                   infer("pair", request(x)), infer("sum", request(x)),
                   infer("scaled", request(blob("x", "FP32", [2], 9)), bytes(8))]
        return Sent(self.random.choice(choices), 400, lambda body: b'{"error":"' in body)

    def late(self):
        return Sent(infer("slow", slow_request(timeout=self.random.choice((1, 100, 1000)))), 504)


def slow_request(**parameters):
    return request(tensor("count", "INT64", [], [LONG]), tensor("x", "FP32", [1], [0]),
                   tensor("h", "FP32", [1], [0]), parameters=parameters)


class Sequence:
    """The steps of a sequence of a client: sums, and rows that are appended to a state."""
    STEPS = 9  # of at most 7 rows: 63

    def __init__(self, name, seed):
        self.name, self.random = name, random.Random(seed)
        self.at = 0

    def parameters(self):
        """Of the next step."""
        if self.at == 0:
            self.total, self.sums = 0.0, [0.0, 0.0]
        self.at += 1
        is_end = self.at == self.STEPS
        started = {"sequence_id": self.name, "sequence_start": self.at == 1,
                   "sequence_end": is_end}
        self.at = 0 if is_end else self.at
        return started

    def sum_step(self):
        """The inputs and the output of a step of the model `sum`."""
        parameters, x = self.parameters(), float(self.random.randint(-9, 9))
        self.total += x
        return parameters, [x, -x], [self.total**2] * 2

    def growing_step(self):
        """The inputs and the output of a step of the model `growing`."""
        parameters = self.parameters()
        x = [float(self.random.randint(-9, 9)) for _ in range(2 * self.random.randint(1, 7))]
        self.sums = [self.sums[column] + sum(x[column::2]) for column in (0, 1)]
        return parameters, x, list(self.sums)


class HttpClient(async_http.Connection):
    """A client with its own choice of requests, and with two sequences."""

    def __init__(self, number, requests, count, times):
        super().__init__(requests.server.http)
        self.random, self.requests = random.Random(number), requests
        self.remaining, self.times = count, times
        self.steps = {model: Sequence(f"{model}{number}", number) for model in ("sum", "growing")}
        self.kinds = [kind for kind in requests.of_kind if kind not in SHARES] + list(self.steps)

    def send_next(self):
        self.kind = select(self.random, self.kinds) if self.remaining > 0 else None
        self.remaining -= 1
        if self.kind != "abandoned":
            return super().send_next()
        data = infer("slow", slow_request())
        size = self.random.choice((len(data), self.random.randrange(len(data))))
        self.close_and_connect(data[:size])
        self.times.add("abandoned", 0)

    def next_request(self):
        if self.kind is None:
            return None
        self.sent = (self.step(self.kind) if self.kind in self.steps else
                     self.random.choice(self.requests.of_kind[self.kind]))
        self.start = time.perf_counter()
        return self.sent.data

    def step(self, model):
        parameters, x, expected = getattr(self.steps[model], f"{model}_step")()
        sent = request(tensor("x", "FP32", [len(x) // 2, 2], x), parameters=parameters)
        def is_body(body):
            return json.loads(body)["outputs"][0]["data"] == expected
        return Sent(infer(model, sent), 200, is_body)

    def answered(self, status, body):
        self.times.add(self.kind, time.perf_counter() - self.start)
        if status != self.sent.status or (self.sent.is_body and not self.sent.is_body(body)):
            self.times.wrong.append((self.kind, status, body[:200]))


async def run_http(server, count, clients, times):
    """Sends `count` requests of `clients` connections."""
    requests = HttpRequests(server)
    shares = [count // clients + (number < count % clients) for number in range(clients)]
    connected = [HttpClient(number, requests, share, times)
                 for number, share in enumerate(shares)]
    for client in connected:
        await client.connect()
    await asyncio.gather(*(client.ended for client in connected))


class Watch:
    """Reads the memory of the server during a load: its resident bytes, the use of the pool by all
    models, and the peak of each."""

    def __init__(self, server):
        self.server = server
        self.most_pool = self.most_resident = 0

    def look(self):
        client = self.server.client()
        status = client.get("/status.json").json
        client.close()
        (pool,) = status["scheduler"]["pools"]
        peaks = [pool["peak"] for model in status["models"] for pool in model["pools"]
                 if pool["name"] == POOL]
        self.most_pool = max(self.most_pool, pool["reserved"] + pool["held"], *peaks)
        self.most_resident = max(self.most_resident, self.server.resident_bytes())

    async def run(self, load):
        task = asyncio.ensure_future(load)
        while not task.done():
            await asyncio.to_thread(self.look)
            await asyncio.wait([task], timeout=0.05)
        await task
