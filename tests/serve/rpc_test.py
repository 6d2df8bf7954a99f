#!/usr/bin/env python3
"""The service of gRPC: its calls, contents, streams, deadlines, cancellations and errors."""

import struct

import grpc

import models
import server_process
from rpc_client import RpcClient, infer_request, messages
from server_process import PATIENCE, ServerTest, floats, running, wait_until

LONG = 10**9  # iterations: about a minute
FIELDS = {"bool": "bool_contents", "i8": "int_contents", "i16": "int_contents",
          "i32": "int_contents", "i64": "int64_contents", "u8": "uint_contents",
          "u16": "uint_contents", "u32": "uint_contents", "u64": "uint64_contents",
          "f32": "fp32_contents", "f64": "fp64_contents", "str": "bytes_contents"}
FORMATS = {"bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H",
           "u32": "I", "u64": "Q", "f32": "f", "f64": "d"}
VALUES = {"bool": [True, False, True], "str": [b"a", b"", b"\xff\x00"]}


def values_of(dtype):
    """Three elements, the extreme ones of integers among them."""
    if dtype in VALUES or dtype.startswith("f"):
        return VALUES.get(dtype, [0.5, -1.25, 3.0])
    bits = 8 * struct.calcsize(FORMATS[dtype])
    return [0, 2**bits - 1, 1] if dtype[0] == "u" else [-2**(bits - 1), 2**(bits - 1) - 1, 1]


def raw_of(dtype, values):
    if dtype == "str":
        return b"".join(struct.pack("<I", len(value)) + value for value in values)
    return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)


def pair(a, b, raw=False, **parameters):
    inputs = [(name, "FP32", [1, 3], None if raw else "fp32_contents", values)
              for name, values in (("a", a), ("b", b))]
    return infer_request("pair", inputs, [floats(a), floats(b)] if raw else None, **parameters)


def step(value, sequence, **parameters):
    return infer_request("sum", [("x", "FP32", [1, 2], "fp32_contents", [value, value])],
                         sequence_id=sequence, **parameters)


def slow(count, **parameters):
    inputs = [("count", "INT64", [], "int64_contents", [count]),
              ("x", "FP32", [1], "fp32_contents", [0]), ("h", "FP32", [1], "fp32_contents", [0])]
    return infer_request("slow", inputs, **parameters)


class RpcTest(ServerTest):

    OPTIONS = ("--grpc", "127.0.0.1:0")

    @classmethod
    def setUpModels(cls, folder):
        add = server_process.compiler.add
        add(folder, "pair", models.PAIR)
        add(folder, "sum", models.SUM)
        (folder / "sum" / "config.json").write_text('{"sequences": {"states": {"h": "hn"}}}')
        add(folder, "slow", models.SLOW)
        (folder / "slow" / "config.json").write_text('{"max_requests": 1}')
        add(folder, "counter", models.COUNTER)
        (folder / "counter" / "config.json").write_text(
            '{"generate": {"feedback": {"token": "next"}, "stop": {"next": 10}, "steps": 1000000},'
            ' "sequences": {"states": {"sum": "total"}}}')
        for dtype in FIELDS:
            add(folder, f"copy_{dtype}", models.copy_of(dtype))
        add(folder, "copy_f16", models.copy_of("f16"))

    def setUp(self):
        super().setUp()
        self.rpc = RpcClient(self.server.grpc, PATIENCE)
        self.addCleanup(self.rpc.close)

    def refused(self, call, code, text):
        with self.assertRaises(grpc.RpcError) as caught:
            call()
        self.assertEqual(caught.exception.code(), code, caught.exception.details())
        self.assertIn(text, caught.exception.details())
        return caught.exception

    def wrong(self, request, text):
        self.refused(lambda: self.rpc.call("ModelInfer", request),
                     grpc.StatusCode.INVALID_ARGUMENT, text)

    def test_descriptions(self):
        self.assertTrue(self.rpc.call("ServerLive").live)
        self.assertTrue(self.rpc.call("ServerReady").ready)
        self.assertEqual(self.rpc.call("ServerMetadata").name, "scopevm")
        about = self.rpc.call("ModelMetadata", messages.ModelMetadataRequest(name="pair"))
        self.assertEqual([list(i.shape) for i in about.inputs], [[-1, 3], [-1, 3]])
        self.assertEqual([o.name for o in about.outputs], ["sum", "product"])
        self.assertEqual(list(about.versions), ["1"])
        self.assertEqual(about.inputs[0].datatype, "FP32")

    def test_ready(self):
        def ready(**names):
            return self.rpc.call("ModelReady", messages.ModelReadyRequest(**names)).ready
        self.assertTrue(ready(name="pair"))
        self.assertTrue(ready(name="pair", version="1"))
        self.assertFalse(ready(name="pair", version="2"))
        self.assertFalse(ready(name="none"))

    def test_typed_and_raw(self):
        for raw in (False, True):
            answer = self.rpc.call("ModelInfer", pair([1, 2, 3], [4, 5, 6], raw))
            self.assertEqual(answer.raw_output_contents[0], floats([5, 7, 9]))
            self.assertEqual(answer.raw_output_contents[1], floats([4, 10, 18]))
            self.assertEqual(list(answer.outputs[1].shape), [1, 3])

    def test_types(self):
        for dtype, field in FIELDS.items():
            values, raw = values_of(dtype), raw_of(dtype, values_of(dtype))
            given = ("in", models.TYPES[dtype], [3], field, values)
            for request in (infer_request(f"copy_{dtype}", [given]),
                            infer_request(f"copy_{dtype}", [given[:3] + (None, [])], [raw])):
                answer = self.rpc.call("ModelInfer", request)
                self.assertEqual(answer.raw_output_contents[0], raw, dtype)

    def test_outputs_in_order(self):
        request = pair([1, 2, 3], [4, 5, 6])
        request.id = "seven"
        request.outputs.add(name="product")
        request.outputs.add(name="sum")
        answer = self.rpc.call("ModelInfer", request)
        self.assertEqual([o.name for o in answer.outputs], ["product", "sum"])
        self.assertEqual(answer.raw_output_contents[1], floats([5, 7, 9]))
        self.assertEqual(answer.id, "seven")

    def test_wrong_contents(self):
        mixed = pair([1, 2, 3], [4, 5, 6])
        mixed.raw_input_contents.extend([floats([1, 2, 3]), floats([1, 2, 3])])
        self.wrong(mixed, "expected either contents or raw_input_contents")
        few = pair([1, 2, 3], [4, 5, 6], raw=True)
        del few.raw_input_contents[1]
        self.wrong(few, "raw_input_contents has 1 elements for 2 inputs")
        self.wrong(pair([1, 2], [4, 5, 6]),
                   "the shape has another number of elements than the contents: 2")
        for shape, text in (([2**40, 2**40], "another number of elements"),
                            ([-1, 3], "expected integers that are not negative"),
                            ([1] * 100, "expected at most")):
            inputs = [("in", "FP32", shape, "fp32_contents", [1])]
            self.wrong(infer_request("copy_f32", inputs), text)
        other = [("in", "FP32", [1], "int_contents", [1])]
        self.wrong(infer_request("copy_f32", other),
                   "the contents have elements of other types than the datatype")
        self.wrong(infer_request("copy_f16", [("in", "FP16", [1], "fp32_contents", [1])]),
                   "FP16 has raw contents only")
        self.wrong(infer_request("copy_i8", [("in", "INT8", [1], "int_contents", [128])]),
                   "expected INT8, given 128")
        self.wrong(infer_request("copy_f32", [("in", "FP33", [1], None, [])]),
                   'unknown datatype "FP33"')

    def test_wrong_names(self):
        twice = pair([1, 2, 3], [4, 5, 6])
        twice.inputs.add().CopyFrom(twice.inputs[0])
        self.wrong(twice, 'input "a" occurs twice')
        output = pair([1, 2, 3], [4, 5, 6])
        output.outputs.add(name="sum")
        output.outputs.add(name="sum")
        self.wrong(output, 'output "sum" occurs twice')
        del output.outputs[1]
        output.outputs[0].name = "sums"
        self.wrong(output, 'no output "sums"')
        other = pair([1, 2, 3], [4, 5, 6])
        other.inputs[0].name = "aa"
        self.wrong(other, 'the module has no input "aa"')
        version = pair([1, 2, 3], [4, 5, 6])
        version.model_version = "one"
        self.wrong(version, "expected a number as version, given one")
        version.model_version = "2"
        self.refused(lambda: self.rpc.call("ModelInfer", version), grpc.StatusCode.NOT_FOUND,
                     'model "pair" has no version 2')

    def test_stream_of_a_sequence(self):
        def steps():
            for i in range(200):
                yield step(1, 5, sequence_start=i == 0, sequence_end=i == 199)
        answers = list(self.rpc.stream(steps()))
        self.assertEqual([a.error_message for a in answers], [""] * 200)
        outputs = [a.infer_response.raw_output_contents[0] for a in answers]
        self.assertEqual(outputs, [floats([i * i, i * i]) for i in range(1, 201)])
        self.assertEqual(self.server.statistics("sum")["sequence_count"], 0)

    def test_generation_in_a_stream(self):
        """Each step is a response; the responses keep the order of the requests."""
        def count(token, steps, **parameters):
            return infer_request("counter", [("token", "INT64", [1], "int64_contents", [token])],
                                 steps=steps, **parameters)
        plain = pair([1, 2, 3], [4, 5, 6])
        answers = list(self.rpc.stream(iter([count(0, 3), plain, count(5, 100), count(0, 0)])))
        self.assertIn('parameter "steps": expected an integer', answers.pop().error_message)
        self.assertEqual([answer.error_message for answer in answers], [""] * len(answers))
        found = [answer.infer_response for answer in answers]
        values = [struct.unpack("<q", each.raw_output_contents[0])[0]
                  for each in found if each.model_name == "counter"]
        self.assertEqual(values, [1, 2, 3, *range(6, 11)])  # 10 is a value to stop at
        self.assertEqual(found[3].model_name, "pair")
        self.assertEqual([each.parameters["triton_final_response"].bool_param
                          for each in found[:3]], [False, False, True])

    def test_an_endless_generation_is_cancelled(self):
        endless = infer_request("counter", [("token", "INT64", [1], "int64_contents", [11])],
                                steps=1_000_000)
        answers = self.rpc.stream(iter([endless, endless]))
        for _ in range(20):
            next(answers)
        answers.cancel()
        wait_until(lambda: self.server.statistics("counter")["pending_count"] == 0, "they end")

    def test_errors_in_a_stream(self):
        bad = step(1, 77)
        bad.id = "bad"
        good = pair([1, 2, 3], [4, 5, 6])
        answers = list(self.rpc.stream(iter([bad, good])))
        self.assertIn("expected sequence_start", answers[0].error_message)
        self.assertEqual(answers[0].infer_response.id, "bad")
        self.assertEqual(answers[1].infer_response.raw_output_contents[0], floats([5, 7, 9]))

    def test_deadline(self):
        self.refused(lambda: self.rpc.call("ModelInfer", slow(LONG), timeout=0.2),
                     grpc.StatusCode.DEADLINE_EXCEEDED, "")
        wait_until(lambda: self.server.statistics("slow")["pending_count"] == 0,
                   "the request has ended")
        self.refused(lambda: self.rpc.call("ModelInfer", slow(LONG, timeout=1000)),
                     grpc.StatusCode.DEADLINE_EXCEEDED, "deadline")
        wait_until(lambda: self.server.statistics("slow")["pending_count"] == 0,
                   "the request has ended")

    def test_cancellation_and_overload(self):
        def pending():
            return self.server.statistics("slow")["pending_count"]
        running_call = self.rpc.start("ModelInfer", slow(LONG))
        wait_until(lambda: pending() == 1, "the request runs")
        error = self.refused(lambda: self.rpc.call("ModelInfer", slow(1)),
                             grpc.StatusCode.RESOURCE_EXHAUSTED, "1 requests in flight already")
        self.assertIn(("grpc-retry-pushback-ms", "1000"), error.trailing_metadata())
        running_call.cancel()
        wait_until(lambda: pending() == 0, "the request was cancelled")
        answers = self.rpc.stream(iter([slow(LONG)]))
        wait_until(lambda: pending() == 1, "the request of the stream runs")
        answers.cancel()
        wait_until(lambda: pending() == 0, "the request of the stream was cancelled")

    def test_statistics_and_index(self):
        self.rpc.call("ModelInfer", pair([1, 2, 3], [4, 5, 6]))
        for names in ({"name": "pair"}, {"name": "pair", "version": "1"}):
            stats = self.rpc.call("ModelStatistics", messages.ModelStatisticsRequest(**names))
            self.assertGreater(stats.model_stats[0].inference_stats.success.count, 0)
        self.assertGreater(len(self.rpc.call("ModelStatistics").model_stats), 5)
        self.refused(lambda: self.rpc.call("ModelStatistics",
                                           messages.ModelStatisticsRequest(name="none")),
                     grpc.StatusCode.NOT_FOUND, "unknown model")
        index = {m.name: m.state for m in self.rpc.call("RepositoryIndex").models}
        self.assertEqual(index["pair"], "READY")

    def test_load_and_unload(self):
        name = messages.RepositoryModelUnloadRequest(model_name="copy_u8")
        self.rpc.call("RepositoryModelUnload", name)
        ready = messages.ModelReadyRequest(name="copy_u8")
        self.assertFalse(self.rpc.call("ModelReady", ready).ready)
        self.refused(lambda: self.rpc.call("RepositoryModelUnload", name),
                     grpc.StatusCode.NOT_FOUND, "is not loaded")
        self.rpc.call("RepositoryModelLoad",
                      messages.RepositoryModelLoadRequest(model_name="copy_u8"))
        self.assertTrue(self.rpc.call("ModelReady", ready).ready)
        self.refused(lambda: self.rpc.call(
            "RepositoryModelLoad", messages.RepositoryModelLoadRequest(model_name="../x")),
                     grpc.StatusCode.NOT_FOUND, "the repository has no model")

    def test_health(self):
        # The messages of grpc.health.v1: field 1 of the response is the status, 1 means SERVING.
        check = self.rpc.channel.unary_unary("/grpc.health.v1.Health/Check")
        self.assertEqual(check(b"", timeout=PATIENCE), b"\x08\x01")

    def test_large_message(self):
        values = [float(i) for i in range(2_000_000)]
        request = infer_request("copy_f32", [("in", "FP32", [len(values)], None, [])],
                                [floats(values)])
        self.assertEqual(len(self.rpc.call("ModelStatistics").model_stats) > 0, True)
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        channel = grpc.insecure_channel(self.server.grpc, options)
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer",
                                   request_serializer=messages.ModelInferRequest.SerializeToString,
                                   response_deserializer=messages.ModelInferResponse.FromString)
        self.assertEqual(call(request, timeout=PATIENCE).raw_output_contents[0], floats(values))
        channel.close()


class AddressTest(ServerTest):

    OPTIONS = ("--grpc", "127.0.0.1:0")

    @classmethod
    def setUpModels(cls, folder):
        server_process.compiler.add(folder, "pair", models.PAIR)

    def test_unix_socket(self):
        path = f"unix:{self.folder}/grpc"
        with running(self.folder, "--grpc", path) as server:
            rpc = RpcClient(server.grpc, PATIENCE)
            self.assertTrue(rpc.call("ServerReady").ready)
            rpc.close()

    def test_address_in_use(self):
        with self.assertRaisesRegex(AssertionError, ": gRPC cannot listen there"):
            server_process.Server(self.folder, "--grpc", self.server.grpc)


if __name__ == "__main__":
    server_process.main()
