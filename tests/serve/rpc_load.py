"""Load of many clients of the gRPC service, as load.py."""

import asyncio
import random
import time

import grpc

from load import LONG, Sequence, select
from rpc_client import SERVICE, infer_request, messages
from server_process import floats

STREAMED = 8  # requests of a stream


def slow(**parameters):
    inputs = [("count", "INT64", [], "int64_contents", [LONG]),
              ("x", "FP32", [1], "fp32_contents", [0]), ("h", "FP32", [1], "fp32_contents", [0])]
    return infer_request("slow", inputs, **parameters)


class RpcClient:
    """A channel with a connection of its own."""
    KINDS = ("typed", "raw", "strings", "sum", "growing", "stream")

    def __init__(self, address, number, times):
        self.random, self.times, self.number = random.Random(number), times, number
        self.channel = grpc.aio.insecure_channel(
            address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.call = self.channel.unary_unary(
            SERVICE + "ModelInfer",
            request_serializer=messages.ModelInferRequest.SerializeToString,
            response_deserializer=messages.ModelInferResponse.FromString)
        self.streaming = self.channel.stream_stream(
            SERVICE + "ModelStreamInfer",
            request_serializer=messages.ModelInferRequest.SerializeToString,
            response_deserializer=messages.ModelStreamInferResponse.FromString)
        self.steps = {model: Sequence(f"{model}-rpc{number}", number)
                      for model in ("sum", "growing")}

    async def run(self, count):
        for _ in range(count):
            kind = select(self.random, self.KINDS)
            start = time.perf_counter()
            problem = await getattr(self, kind)()
            self.times.add(f"rpc {kind}", time.perf_counter() - start)
            if problem:
                self.times.wrong.append((kind, problem))
        await self.channel.close()

    async def expect(self, sent, *outputs):
        """Makes a call; the text of a problem, or None."""
        try:
            answer = await self.call(sent)
        except grpc.aio.AioRpcError as error:
            return f"{error.code()}: {error.details()}"
        found = list(answer.raw_output_contents)
        return None if found == list(outputs) else f"{found} instead of {outputs}"

    async def expect_error(self, code, sent, **options):
        try:
            await self.call(sent, **options)
        except grpc.aio.AioRpcError as error:
            return None if error.code() == code else f"{error.code()}: {error.details()}"
        return "an answer instead of an error"

    def numbers(self, count):
        return [float(self.random.randint(-99, 99)) for _ in range(count)]

    async def typed(self):
        x = self.numbers(self.random.choice((1, 3, 50)))
        sent = infer_request("scaled", [("x", "FP32", [len(x)], "fp32_contents", x)])
        return await self.expect(sent, floats([3 * value for value in x]))

    async def raw(self):
        rows = self.random.choice((1, 2, 300))
        a, b = self.numbers(3 * rows), self.numbers(3 * rows)
        sent = infer_request("pair", [(name, "FP32", [rows, 3], None, []) for name in "ab"],
                             [floats(a), floats(b)])
        return await self.expect(sent, floats([x + y for x, y in zip(a, b)]),
                                 floats([x * y for x, y in zip(a, b)]))

    async def strings(self):
        texts = [bytes(self.random.randint(0, 20)) for _ in range(self.random.randint(1, 5))]
        sent = infer_request("strings", [("in", "BYTES", [len(texts)], "bytes_contents", texts)])
        return await self.expect(
            sent, b"".join(len(text).to_bytes(4, "little") + text for text in texts))

    def step(self, model):
        parameters, x, expected = getattr(self.steps[model], f"{model}_step")()
        inputs = [("x", "FP32", [len(x) // 2, 2], "fp32_contents", x)]
        return infer_request(model, inputs, **parameters), floats(expected)

    async def sum(self):
        return await self.expect(*self.step("sum"))

    async def growing(self):
        return await self.expect(*self.step("growing"))

    async def stream(self):
        steps = [self.step(self.random.choice(("sum", "growing"))) for _ in range(STREAMED)]
        try:
            answers = [answer async for answer in self.streaming(iter([sent for sent, _ in steps]))]
        except grpc.aio.AioRpcError as error:
            return f"{error.code()}: {error.details()}"
        found = [list(answer.infer_response.raw_output_contents) for answer in answers]
        return None if found == [[expected] for _, expected in steps] else str(answers)

    async def large(self):
        count = 1 << 18
        sent = infer_request("scaled", [("x", "FP32", [count], None, [])], [floats([2]) * count])
        return await self.expect(sent, floats([6]) * count)

    async def wrong(self):
        x = ("x", "FP32", [2], "fp32_contents", [1, 2])
        choices = [infer_request("scaled", []), infer_request("pair", [x]),
                   infer_request("scaled", [("x", "FP33", [2], "fp32_contents", [1, 2])]),
                   infer_request("scaled", [("x", "FP32", [3], "fp32_contents", [1, 2])])]
        return await self.expect_error(grpc.StatusCode.INVALID_ARGUMENT,
                                       self.random.choice(choices))

    async def late(self):
        if self.random.random() < 0.5:
            return await self.expect_error(grpc.StatusCode.DEADLINE_EXCEEDED, slow(timeout=1000))
        return await self.expect_error(grpc.StatusCode.DEADLINE_EXCEEDED, slow(), timeout=0.005)

    async def abandoned(self):
        call = self.call(slow())
        await asyncio.sleep(self.random.choice((0, 0.001)))
        call.cancel()


async def run_rpc(server, count, clients, times):
    """Makes `count` calls of `clients` channels. A stream of several requests is one call."""
    shares = [count // clients + (number < count % clients) for number in range(clients)]
    await asyncio.gather(*(RpcClient(server.grpc, number, times).run(share)
                           for number, share in enumerate(shares)))
