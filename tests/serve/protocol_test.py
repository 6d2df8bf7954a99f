#!/usr/bin/env python3
"""The Open Inference Protocol: paths, metadata, requests as JSON and with binary data, and the
results of random requests."""

import random
import struct

import models
import server_process
from server_process import JSON_BYTES, ServerTest, blob, floats, request, tensor

FORMATS = {"BOOL": "?", "INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q", "UINT8": "B",
           "UINT16": "H", "UINT32": "I", "UINT64": "Q", "FP16": "e", "FP32": "f", "FP64": "d"}
VALUES = {"BOOL": [True, False, True], "FP16": [1.5, -2.0, 0.25],
          "FP32": [0.1, -8.75e37, 1e-45, -0.0], "FP64": [0.1, 1.7e308, -5e-324, -0.0, 2.0**64],
          "BYTES": ["", "a\u00e9\u4e16", "\"\\\n\x01"]}
A = [[1, 2, 3], [4, 5, 6]]
B = [[7, 8, 9], [10, 11, 12]]


def values_of(datatype):
    if datatype in VALUES:
        return VALUES[datatype]
    bits = int(datatype.strip("UINT"))
    return [0, 2**bits - 1, 2**(bits - 1)] if datatype[0] == "U" else \
        [-2**(bits - 1), 2**(bits - 1) - 1, -1]


def bytes_of(datatype, values):
    if datatype == "BYTES":
        texts = [value.encode() for value in values]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    if datatype == "BF16":
        return struct.pack("<3H", 0x3f80, 0xc000, 0x7f80)
    return struct.pack(f"<{len(values)}{FORMATS[datatype]}", *values)


class ProtocolTest(ServerTest):

    @classmethod
    def setUpModels(cls, folder):
        for dtype in models.TYPES:
            server_process.compiler.add(folder, dtype, models.copy_of(dtype), "--dim", "n>=0")
        server_process.compiler.add(folder, "pair", models.PAIR, "--dim", "n>=0")
        server_process.compiler.add(folder, "quotient", models.QUOTIENT)
        server_process.compiler.add(folder, "list", models.LIST)

    def pair(self, **members):
        return request(tensor("a", "FP32", [2, 3], A), tensor("b", "FP32", [2, 3], B), **members)

    def test_health(self):
        for path in ("live", "ready"):
            self.assertEqual(self.ok(self.client.get("/v2/health/" + path)).json, {path: True})
        head = self.client.request("HEAD", "/v2/health/live")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.headers["content-length"], "13")

    def test_metadata(self):
        server = self.ok(self.client.get("/v2")).json
        self.assertEqual(server["name"], "scopevm")
        self.assertIn("binary_tensor_data", server["extensions"])
        for path in ("/v2/models/pair", "/v2/models/pair/versions/1", "/v2/models/pa%69r?x=y"):
            self.assertEqual(self.ok(self.client.get(path)).json, {
                "name": "pair", "versions": ["1"], "platform": "scopevm",
                "inputs": [{"name": name, "datatype": "FP32", "shape": [-1, 3]} for name in "ab"],
                "outputs": [{"name": name, "datatype": "FP32", "shape": [-1, 3]}
                            for name in ("sum", "product")]})
        for dtype, datatype in models.TYPES.items():
            found = self.ok(self.client.get("/v2/models/" + dtype)).json
            self.assertEqual(found["inputs"][0]["datatype"], datatype)

    def test_readiness(self):
        self.ok(self.client.get("/v2/models/pair/ready"))
        self.ok(self.client.get("/v2/models/pair/versions/1/ready"))
        self.fails(self.client.get("/v2/models/pear/ready"), 'unknown model "pear"', 404)
        self.fails(self.client.get("/v2/models/pair/versions/2/ready"), "has no version 2", 404)

    def test_unknown_paths(self):
        for path in ("/v1", "/v2/health", "/v2/models", "/v2/models/pair/versions",
                     "/v2/models/pair/predict", "/v2/models/pair/infer/x", "/v2/repository",
                     "/v2/repository/models/pair", "//v2"):
            self.fails(self.client.get(path), "unknown path", 404)
        for path in ("/v2/%", "/v2/models/%4", "/v2/models/%zz", "/v2/models/a%00b"):
            self.fails(self.client.get(path), "the path has a malformed escape")
        self.fails(self.client.get("/v2/models/pair/versions/one"), "expected a number as version")
        self.fails(self.client.get("/v2/models/pear"), 'unknown model "pear"')
        self.fails(self.client.infer("pear", self.pair()), 'unknown model "pear"')
        self.fails(self.client.infer("pair/versions/9", self.pair()), "has no version 9")

    def test_methods(self):
        for method, path, allowed in (
                ("POST", "/v2", "GET"), ("PUT", "/v2/health/live", "GET"),
                ("DELETE", "/v2/models/pair", "GET"), ("GET", "/v2/models/pair/infer", "POST"),
                ("HEAD", "/v2/models/pair/infer", "POST"), ("GET", "/v2/repository/index", "POST"),
                ("GET", "/v2/repository/models/pair/load", "POST")):
            answer = self.client.request(method, path)
            self.assertEqual((answer.status, answer.headers["allow"]), (405, allowed), path)

    def test_flat_and_nested_data(self):
        flat = request(tensor("b", "FP32", [2, 3], sum(B, [])), tensor("a", "FP32", [2, 3], A))
        for sent in (flat, self.pair()):
            answer = self.ok(self.client.infer("pair", sent))
            self.assertEqual(answer.json, {
                "model_name": "pair", "model_version": "1",
                "outputs": [tensor("sum", "FP32", [2, 3], [8, 10, 12, 14, 16, 18]),
                            tensor("product", "FP32", [2, 3], [7, 16, 27, 40, 55, 72])]})

    def test_types(self):
        for datatype in models.TYPES.values():
            name = next(key for key, value in models.TYPES.items() if value == datatype)
            values = values_of(datatype) if datatype != "BF16" else [0, 0, 0]
            data = bytes_of(datatype, values)
            shape = [len(values)]
            sent = request(blob("in", datatype, shape, len(data)))
            sent["parameters"] = {"binary_data_output": True}
            answer = self.ok(self.client.infer(name, sent, data))
            self.assertEqual(answer.binary, data, datatype)
            self.assertEqual(answer.output("out"), blob("out", datatype, shape, len(data)))
            sent = request(tensor("in", datatype, shape, values))
            answer = self.client.infer(name, sent)
            if datatype in ("FP16", "BF16"):
                self.fails(answer, "has no elements in JSON: send them as binary data")
                continue
            received = self.ok(answer).data("out")
            self.assertEqual(bytes_of(datatype, received), bytes_of(datatype, values))

    def test_empty_tensors_and_scalars(self):
        for shape, data in (([0], []), ([0], None)):
            sent = request(tensor("in", "FP32", shape, data) if data is not None
                            else blob("in", "FP32", shape, 0))
            answer = self.ok(self.client.infer("f32", sent, None if data is not None else b""))
            self.assertEqual(answer.output("out"), tensor("out", "FP32", [0], []))
        sent = request(tensor("a", "FP32", [0, 3], []), tensor("b", "FP32", [0, 3], []))
        self.assertEqual(self.ok(self.client.infer("pair", sent)).output("sum")["shape"], [0, 3])

    def test_mixed_binary_data(self):
        sent = request(blob("a", "FP32", [1, 3], 12), tensor("b", "FP32", [1, 3], [4, 5, 6]),
                        outputs=[{"name": "product", "parameters": {"binary_data": True}},
                                 {"name": "sum"}])
        answer = self.ok(self.client.infer("pair", sent, floats([1, 2, 3])))
        self.assertEqual(answer.json["outputs"], [blob("product", "FP32", [1, 3], 12),
                                                  tensor("sum", "FP32", [1, 3], [5, 7, 9])])
        self.assertEqual(answer.binary, floats([4, 10, 18]))
        # The default of all outputs, and an exception.
        sent["parameters"] = {"binary_data_output": True}
        sent["outputs"] = [{"name": "sum"}, {"name": "product",
                                              "parameters": {"binary_data": False}}]
        answer = self.ok(self.client.infer("pair", sent, floats([1, 2, 3])))
        self.assertEqual(answer.binary, floats([5, 7, 9]))
        self.assertEqual(answer.data("product"), [4, 10, 18])

    def test_order_and_subset_of_outputs(self):
        for names in (["product", "sum"], ["product"], ["sum"], ["sum", "product"]):
            sent = self.pair(outputs=[{"name": name} for name in names])
            answer = self.ok(self.client.infer("pair", sent))
            self.assertEqual([output["name"] for output in answer.json["outputs"]], names)
        for nothing in ([], None):
            answer = self.ok(self.client.infer("pair", self.pair(outputs=nothing)))
            self.assertEqual(len(answer.json["outputs"]), 2)

    def test_raw_requests(self):
        def infer(model, body):
            return self.client.request("POST", f"/v2/models/{model}/infer", body, {JSON_BYTES: "0"})
        answer = self.ok(infer("f32", floats([1, 2, 3, 4])))
        self.assertEqual(answer.output("out"), blob("out", "FP32", [4], 16))
        self.assertEqual(answer.binary, floats([1, 2, 3, 4]))
        answer = self.ok(infer("str", b"one text"))
        self.assertEqual(answer.binary, b"\x08\0\0\0one text")
        self.fails(infer("pair", bytes(12)),
                   "a raw request is for models with one input, and this one has 2")
        self.fails(infer("f32", b"12345"), "expected 4 bytes of binary data, given 5")
        self.fails(infer("list", bytes(12)),
                   "a raw request is for inputs with at most one dim that is not constant")
        self.fails(infer("bool", b"\2"), "expected bytes 0 and 1 for BOOL, given 2")

    def test_outputs_that_are_not_tensors(self):
        sent = request(tensor("x", "FP32", [1, 1], [3]))
        self.fails(self.client.infer("list", sent),
                   'output "pair" is not a tensor, and the protocol has no other values')
        sent["outputs"] = [{"name": "y"}]
        self.assertEqual(self.ok(self.client.infer("list", sent)).data("y"), [-3])
        self.ok(self.client.get("/v2/models/list"))

    def test_id(self):
        self.assertEqual(self.ok(self.client.infer("pair", self.pair(id="\u4e16\"x"))).json["id"],
                         "\u4e16\"x")
        for without in (self.pair(), self.pair(id=None)):
            self.assertNotIn("id", self.ok(self.client.infer("pair", without)).json)
        self.assertEqual(self.ok(self.client.infer("pair", self.pair(id=""))).json["id"], "")
        self.fails(self.client.infer("pair", self.pair(id=7)), '"id": expected a string')

    def test_null_denotes_an_absent_member(self):
        sent = request({**tensor("in", "FP32", [1], [2]), "parameters": None}, outputs=None,
                        parameters={"timeout": None}, unknown={"members": ["are", "ignored"]})
        self.assertEqual(self.ok(self.client.infer("f32", sent)).data("out"), [2])

    def test_not_finite_results(self):
        sent = request(tensor("x", "FP32", [2], [1, 0]))
        self.fails(self.client.infer("quotient", sent),
                   "an element is NaN, which JSON cannot hold: request it as binary data")
        infinite = blob("in", "FP32", [1], 4)
        self.fails(self.client.infer("f32", request(infinite), floats([float("inf")])),
                   "an element is infinite")
        sent["parameters"] = {"binary_data_output": True}
        self.assertEqual(self.ok(self.client.infer("quotient", sent)).binary[:4], floats([1]))
        text = request(blob("in", "BYTES", [1], 5))
        self.fails(self.client.infer("str", text, b"\1\0\0\0\xff"), "a string is not UTF-8")

    def test_random_requests(self):
        seeded = random.Random(7)
        for _ in range(150):
            rows = seeded.choice((0, 1, 2, 3, 17, 64))
            names, values = ["a", "b"], {}
            inputs, binary = [], b""
            seeded.shuffle(names)
            for name in names:
                values[name] = [float(seeded.randint(-1000, 1000)) for _ in range(rows * 3)]
                if seeded.random() < 0.5:
                    inputs.append(blob(name, "FP32", [rows, 3], rows * 12))
                    binary += floats(values[name])
                else:
                    nested = [values[name][3 * row:3 * row + 3] for row in range(rows)]
                    data = nested if seeded.random() < 0.5 else values[name]
                    inputs.append(tensor(name, "FP32", [rows, 3], data))
            outputs = seeded.sample(["sum", "product"], seeded.randint(1, 2))
            is_binary = {name: seeded.random() < 0.5 for name in outputs}
            listed = [{"name": name, "parameters": {"binary_data": is_binary[name]}}
                      for name in outputs]
            answer = self.ok(self.client.infer("pair", request(*inputs, outputs=listed), binary))
            pairs = list(zip(values["a"], values["b"]))
            expected = {"sum": [a + b for a, b in pairs], "product": [a * b for a, b in pairs]}
            at = 0
            for name, output in zip(outputs, answer.json["outputs"], strict=True):
                self.assertEqual((output["name"], output["shape"]), (name, [rows, 3]))
                data = output.get("data")
                if is_binary[name]:
                    size = output["parameters"]["binary_data_size"]
                    data = list(struct.unpack_from(f"<{size // 4}f", answer.binary, at))
                    at += size
                self.assertEqual(data, expected[name])
            self.assertEqual(at, len(answer.binary))


if __name__ == "__main__":
    server_process.main()
