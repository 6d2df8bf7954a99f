#!/usr/bin/env python3
"""Streams of a language model and of a detector of speech, all at the same time, over HTTP and
gRPC: the results are those of requests without sequences, one stream after the other, in which the
client passes the states; and sequences hold the memory of their states.

    streams_test.py PROGRAMS
    streams_test.py PROGRAMS --streams NUMBER STEPS    prints times and memory
"""

import asyncio
import json
import struct
import sys
import time

import grpc
import numpy as np

import server_process
import stream_models
from rpc_client import SERVICE, infer_request, messages
from server_process import JSON_BYTES, ServerTest, blob, request

OPTION = "--streams"
POOL = "cpu.global"
TYPES = {np.dtype(np.float32): "FP32", np.dtype(np.int64): "INT64"}


class Decoding:
    """Greedy decoding after a prompt."""
    model, output = "decoder", "logits"

    def __init__(self, seed, steps):
        seeded = np.random.default_rng(seed)
        self.new = seeded.integers(0, stream_models.SIZES.vocabulary, seeded.integers(1, 6))
        self.known, self.steps, self.results = 0, steps, []

    def inputs(self):
        end = self.known + len(self.new)
        return {"input_ids": self.new[None], "position_ids": np.arange(self.known, end)[None],
                "attention_mask": np.ones((1, end), np.int64)}

    def take(self, logits):
        self.known += len(self.new)
        self.results.append(logits)
        vocabulary = stream_models.SIZES.vocabulary
        self.new = np.frombuffer(logits, np.float32)[-vocabulary:].argmax(keepdims=True)

    def first_states(self):
        sizes = stream_models.SIZES
        empty = np.zeros((1, sizes.heads, 0, sizes.head_width), np.float32)
        return {name: empty for name in stream_models.decoder()[1]}

    def state_bytes(self):
        return stream_models.cache_bytes(self.known)


class Detection:
    """Chunks of noise."""
    model, output = "detector", "output"

    def __init__(self, seed, steps):
        self.random, self.steps, self.results = np.random.default_rng(seed), steps, []

    def inputs(self):
        noise = self.random.standard_normal((1, stream_models.CHUNK))
        return {"input": noise.astype(np.float32)}

    def take(self, probability):
        self.results.append(probability)

    def first_states(self):
        return {"state": np.zeros((2, 1, stream_models.HIDDEN), np.float32)}

    def state_bytes(self):
        return 2 * 2 * stream_models.HIDDEN * 4  # the value and that of the next call


def http_request(inputs, outputs, parameters):
    """The JSON and the bytes of a request."""
    listed = [blob(name, TYPES[array.dtype], list(array.shape), array.nbytes)
              for name, array in inputs.items()]
    sent = request(*listed, outputs=[{"name": name} for name in outputs],
                   parameters={"binary_data_output": True, **parameters})
    return json.dumps(sent).encode(), b"".join(array.tobytes() for array in inputs.values())


async def post(reader, writer, model, text, binary):
    """The bytes of the output."""
    writer.write((f"POST /v2/models/{model}/infer HTTP/1.1\r\n{JSON_BYTES}: {len(text)}\r\n"
                  f"Content-Length: {len(text) + len(binary)}\r\n\r\n").encode() + text + binary)
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in head[1:] if line)
    body = await reader.readexactly(int(headers["content-length"]))
    if " 200 " not in head[0]:
        raise AssertionError(f"{head[0]}: {body!r}")
    return body[int(headers[JSON_BYTES.lower()]):]


def parameters_of(number, step, steps):
    return {"sequence_id": number, "sequence_start": step == 0, "sequence_end": step == steps - 1}


async def run_http(server, number, stream, middle):
    reader, writer = await asyncio.open_connection(*server.http.rsplit(":", 1), limit=1 << 20)
    for step in range(stream.steps):
        if step == stream.steps // 2:
            await middle()
        sent = http_request(stream.inputs(), [stream.output],
                            parameters_of(number, step, stream.steps))
        stream.take(await post(reader, writer, stream.model, *sent))
    writer.close()


async def run_rpc(server, number, stream, middle, channel):
    call = channel.stream_stream(
        SERVICE + "ModelStreamInfer",
        request_serializer=messages.ModelInferRequest.SerializeToString,
        response_deserializer=messages.ModelStreamInferResponse.FromString)()
    for step in range(stream.steps):
        if step == stream.steps // 2:
            await middle()
        inputs = stream.inputs()
        sent = infer_request(
            stream.model, [(name, TYPES[array.dtype], array.shape, None, [])
                           for name, array in inputs.items()],
            [array.tobytes() for array in inputs.values()],
            **parameters_of(number, step, stream.steps))
        await call.write(sent)
        answer = await call.read()
        if answer.error_message:
            raise AssertionError(answer.error_message)
        stream.take(answer.infer_response.raw_output_contents[0])
    await call.done_writing()


class StreamsTest(ServerTest):

    OPTIONS = ("--grpc", "127.0.0.1:0", "--capacity", f"{POOL}=1GiB")
    count, steps = 20, 12
    is_long = False

    @classmethod
    def setUpModels(cls, folder):
        for name, dims in (("decoder", ["past>=0"]), ("detector", [])):
            model, states = getattr(stream_models, name)()
            (folder / name / "1").mkdir(parents=True)
            (folder / name / "1" / "model.onnx").write_bytes(model)
            config = {"sequences": {"states": states, "max": 10**4},
                      "compile": [word for dim in dims for word in ("--dim", dim)]}
            (folder / name / "config.json").write_text(json.dumps(config))

        cls.runner = cls.enterClassContext(asyncio.Runner())

    def pool(self):
        (pool,) = self.client.get("/status.json").json["scheduler"]["pools"]
        return pool["held"] + pool["reserved"]

    def results_alone(self, stream):
        """The results of requests without a sequence."""
        values = stream.first_states()
        states = getattr(stream_models, stream.model)()[1]
        for _ in range(stream.steps):
            outputs = [stream.output, *states.values()]
            sent = http_request({**stream.inputs(), **values}, outputs, {})
            answer = self.ok(self.client.infer(stream.model, *sent))
            at, parts = 0, []
            for output in answer.json["outputs"]:
                size = output["parameters"]["binary_data_size"]
                parts.append((answer.binary[at:at + size], output["shape"]))
                at += size
            stream.take(parts[0][0])
            values = {name: np.frombuffer(data, np.float32).reshape(shape)
                      for name, (data, shape) in zip(states, parts[1:], strict=True)}
        return stream.results

    async def run_at_once(self, streams):
        """Runs the streams. Returns the bytes of the pool in the middle, when no request runs."""
        barrier, held = asyncio.Barrier(len(streams) + 1), []

        async def middle():
            await barrier.wait()
            await barrier.wait()

        async def look():
            await barrier.wait()
            held.append((self.pool(), sum(stream.state_bytes() for stream in streams)))
            await barrier.wait()
        async with grpc.aio.insecure_channel(self.server.grpc) as channel, \
                   asyncio.TaskGroup() as group:
            group.create_task(look())
            for number, stream in enumerate(streams, 1):
                # Of each model, one half.
                group.create_task(run_http(self.server, number, stream, middle) if number % 4 < 2
                                  else run_rpc(self.server, number, stream, middle, channel))
        return held[0]

    def test_streams(self):
        kinds = [(Decoding, Detection)[i % 2] for i in range(self.count)]
        alone = [self.results_alone(kind(seed, self.steps)) for seed, kind in enumerate(kinds)]
        before = self.pool()
        streams = [kind(seed, self.steps) for seed, kind in enumerate(kinds)]
        start = time.monotonic()
        held, expected = self.runner.run(self.run_at_once(streams))
        seconds = time.monotonic() - start
        for stream, results in zip(streams, alone, strict=True):
            self.assertEqual(stream.results, results)
        if self.is_long:
            print(f"{self.count} streams, {self.count * self.steps / seconds:.0f} steps/s; "
                  f"{POOL}: {before} bytes before, {held} in the middle, of which states have "
                  f"{expected}; {self.pool()} after; resident "
                  f"{self.server.resident_bytes() >> 20} MiB")
        self.assertEqual(held - before, expected)
        self.assertEqual(self.pool(), before)


if __name__ == "__main__":
    if OPTION in sys.argv:
        at = sys.argv.index(OPTION)
        StreamsTest.count, StreamsTest.steps = map(int, sys.argv[at + 1:at + 3])
        StreamsTest.is_long = True
        del sys.argv[at:at + 3]
    server_process.main()
