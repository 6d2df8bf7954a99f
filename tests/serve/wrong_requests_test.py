#!/usr/bin/env python3
"""Wrong requests: the answer is status 400 and a message, and the connection stays usable."""

import json
import random

import models
import server_process
from server_process import JSON_BYTES, ServerTest, blob, floats, request, tensor


def one(**changes):
    """A request of one input with changed members; None removes one."""
    changed = {**tensor("in", "FP32", [2], [1, 2]), **changes}
    return request({name: value for name, value in changed.items() if value is not None})


def sized(size, datatype="FP32", shape=(2,)):
    return request(blob("in", datatype, list(shape), size))


class WrongRequestsTest(ServerTest):

    @classmethod
    def setUpModels(cls, folder):
        for dtype in ("f32", "bool", "i8", "u64", "str"):
            server_process.compiler.add(folder, dtype, models.copy_of(dtype))
        server_process.compiler.add(folder, "pair", models.PAIR)
        server_process.compiler.add(folder, "loops", models.SLOW)

    def rejects(self, wrong, message, model="f32", binary=None):
        self.fails(self.client.infer(model, wrong, binary), message)

    def test_wrong_json(self):
        for text in ("", "{", "{\"inputs\":[}", "nul", "{\"a\":1}{", "[" * 3000, "\xff",
                     "{\"a\":1e999}"):
            self.rejects(text.encode("latin-1"), "the body is not JSON: ")
        for text in ("[]", "1", "\"a\"", "null"):
            self.rejects(text, "expected a JSON object")

    def test_wrong_members(self):
        wrong = one()
        for inputs in (None, 1, {}, "in"):
            wrong["inputs"] = inputs
            self.rejects(wrong, '"inputs"')
        self.rejects({}, '"inputs" is missing: expected an array of objects')
        self.rejects({"inputs": [1]}, '"inputs": expected objects')
        self.rejects({"inputs": [[]]}, '"inputs": expected objects')
        self.rejects(one(name=None), '"name" is missing: expected a string')
        self.rejects(one(name=1), '"name": expected a string')
        self.rejects(one(datatype=None), 'input "in": "datatype" is missing')
        self.rejects(one(datatype="FP33"), 'unknown datatype "FP33"')
        self.rejects(one(datatype="fp32"), 'unknown datatype "fp32"')
        self.rejects(one(parameters=[]), '"parameters": expected an object')
        self.rejects(one(parameters={"x": []}),
                     'parameter "x": expected a boolean, a number or a string')
        self.rejects(one(data=None), 'expected either "data" or the parameter "binary_data_size"')
        self.rejects(one(parameters={"binary_data_size": 8}), "expected either", binary=bytes(8))
        for size in ("8", 8.5, True, 2**70):
            self.rejects(one(data=None, parameters={"binary_data_size": size}), "", binary=bytes(8))

    def test_wrong_outputs(self):
        def with_outputs(outputs):
            return {**one(), "outputs": outputs}
        self.rejects(with_outputs([1]), '"outputs": expected objects')
        self.rejects(with_outputs("out"), '"outputs": expected an array of objects')
        self.rejects(with_outputs([{"name": "on"}]), '"on"')
        self.rejects(with_outputs([{"name": "out"}, {"name": "out"}]), 'output "out" occurs twice')
        self.rejects(with_outputs([{}]), '"name" is missing')
        self.rejects(with_outputs([{"name": "out", "parameters": {"binary_data": 1}}]),
                     'parameter "binary_data": expected a boolean')
        self.rejects(with_outputs([{"name": "out", "parameters": {"classification": 2}}]),
                     ': "classification" is not supported')
        self.rejects({**one(), "parameters": {"binary_data_output": "yes"}},
                     'parameter "binary_data_output": expected a boolean')

    def test_wrong_shapes(self):
        for shape in (None, 2, "2", {}):
            self.rejects(one(shape=shape), '"shape"')
        for shape in ([-1], [2, -1], [1.5], ["2"], [None], [2**63], [True]):
            self.rejects(one(shape=shape), '"shape": expected integers that are not negative')
        self.rejects(one(shape=[1] * 100), '"shape": expected at most')
        self.rejects(one(shape=[2**62]),
                     "shape: more elements than the JSON of a request can contain")
        self.rejects(one(shape=[2**32, 2**32]), "shape: more elements than")
        self.rejects(one(shape=[2**32, 2**32, 0], data=[]), "")
        self.rejects(one(shape=[3]), "expected an array of 3 elements, given 2")
        self.rejects(one(shape=[1]), "expected an array of 1 elements, given more")
        self.rejects(one(shape=[2, 1]), "")
        self.rejects(one(shape=[]), "expected an array of 1 elements, given more")

    def test_wrong_data(self):
        for data in (1, "ab", {}, True):
            self.rejects(one(data=data), "data: element 0: expected an array")
        self.rejects(one(shape=[2, 2], data=[[1, 2], [3]]),
                     "expected an array of 2 elements, given 1")
        self.rejects(one(shape=[2, 2], data=[[1, 2], 3]), "data: element 2: expected an array")
        self.rejects(one(data=[[1], [2]]), "expected FP32, given [1]")
        self.rejects(one(shape=[], data=[[1]]), "expected arrays nested like the shape")
        for value in ("1", None, True, [], 1e39, -1e39):
            self.rejects(one(data=[1, value]), "data: element 1: expected FP32, given ")
        for value in (128, -129, 1.5, "1", 2**64 - 1):
            self.rejects(one(datatype="INT8", data=[1, value]), "expected INT8, given ", "i8")
        for value in (-1, 0.5, 1e3):
            self.rejects(one(datatype="UINT64", data=[1, value]), "expected UINT64, given ", "u64")
        self.rejects(one(datatype="BOOL", data=[True, 1]), "expected BOOL, given 1", "bool")
        self.rejects(one(datatype="BYTES", data=["a", 1]), "expected BYTES, given 1", "str")

    def test_wrong_binary_data(self):
        for size in (-1, 9, 2**62):
            self.rejects(sized(size), f"binary_data_size is {size}, but 8 bytes follow",
                         binary=bytes(8))
        self.rejects(sized(4), "expected 8 bytes of binary data, given 4", binary=bytes(4))
        self.rejects(sized(8), "4 bytes of binary data belong to no input", binary=bytes(12))
        self.rejects(sized(0), "the binary data is smaller than the shape", binary=b"")
        self.rejects(sized(8, shape=[2**62, 2**62]), "the binary data is smaller than the shape",
                     binary=bytes(8))
        self.rejects(sized(2, "BOOL"), "expected bytes 0 and 1 for BOOL, given 3", "bool", b"\1\3")
        for binary in (b"\1", b"\0\0\0\0\1\0"):
            self.rejects(sized(len(binary), "BYTES"),
                         "the binary data ends in the size of a string", "str", binary)
        self.rejects(sized(6, "BYTES"), "the binary data ends in a string", "str", b"\3\0\0\0ab")
        self.rejects(sized(5, "BYTES"), "", "str", b"\1\0\0\0a")
        self.rejects(sized(4), "bytes follow")

    def test_wrong_header(self):
        def infer(size):
            return self.client.request("POST", "/v2/models/f32/infer", json.dumps(one()),
                                       {JSON_BYTES: size})
        for size in ("x", "-1", "1.5", "99999999999999999999", "0x10"):
            self.fails(infer(size), JSON_BYTES + ": expected a number")
        self.fails(infer("1000"), "Inference-Header-Content-Length is 1000, but the body has ")
        self.fails(infer("5"), "the body is not JSON")

    def test_wrong_inputs(self):
        a, b = (tensor(name, "FP32", [1, 3], [1, 2, 3]) for name in "ab")
        self.rejects(request(), 'input "a"', "pair")
        self.rejects(request(a), 'input "b"', "pair")
        self.rejects(request(a, a), 'input "a" occurs twice', "pair")
        self.rejects(request(a, b, {**a, "name": "c"}), '"c"', "pair")
        self.rejects(request(a, {**b, "datatype": "FP64"}), 'input "b"', "pair")
        self.rejects(request(a, {**b, "shape": [3]}), 'input "b"', "pair")
        self.rejects(request(a, {**b, "shape": [3, 1]}), 'input "b"', "pair")
        self.rejects(request(a, {**b, "shape": [0, 3], "data": []}), "", "pair")
        self.rejects(request({**a, "shape": [1, 3, 1]}, b), 'input "a"', "pair")

    def test_wrong_parameters(self):
        for name, value, message in (
                ("timeout", "1", 'parameter "timeout": expected an integer: microseconds'),
                ("timeout", -1, 'parameter "timeout": expected at least 0'),
                ("timeout", 1.5, 'parameter "timeout": expected an integer'),
                ("priority", 1001, 'parameter "priority": expected an integer from -1000 to 1000'),
                ("priority", "high", 'parameter "priority": expected an integer'),
                ("sequence_id", 1, 'parameter "sequence_id": the model has no states'),
                ("sequence_id", 1.5, 'parameter "sequence_id": expected an integer or a string'),
                ("sequence_start", True,
                 'parameter "sequence_start" or "sequence_end" without "sequence_id"'),
                ("sequence_end", 1, 'parameter "sequence_end": expected a boolean')):
            self.rejects({**one(), "parameters": {name: value}}, message)

    def test_large_json(self):
        large = b'{"inputs":[' + b" " * (33 << 20) + b"]}"
        answer = self.client.infer("f32", large)
        self.assertEqual(answer.status, 400)
        self.assertIn(": send tensors as binary data", answer.text)
        self.assertRegex(answer.text, "the JSON has [0-9]+ bytes, more than [0-9]+")

    def test_errors_of_a_run(self):
        # A number of iterations that the program itself rejects.
        sent = request(tensor("count", "INT64", [], [-5]), tensor("x", "FP32", [1], [1]),
                        tensor("h", "FP32", [1], [1]))
        self.assertIn(self.client.infer("loops", sent).status, (200, 400))

    def test_changed_requests(self):
        """A valid request with random changes is answered with 200 or 400."""
        seeded = random.Random(3)
        valid = json.dumps(request(tensor("a", "FP32", [1, 3], [[1, 2, 3]]),
                                   blob("b", "FP32", [1, 3], 12), id="x",
                                   outputs=[{"name": "sum"}])).encode()
        alphabet = b'{}[]",:0123456789-.eE\\ truefalsn\x00\xff'
        for _ in range(300):
            text = bytearray(valid)
            for _ in range(seeded.randint(1, 3)):
                at = seeded.randrange(len(text))
                kind = seeded.randrange(4)
                if kind == 0:
                    text[at] = seeded.choice(alphabet)
                elif kind == 1:
                    del text[at:at + seeded.randint(1, 8)]
                elif kind == 2:
                    text[at:at] = bytes(seeded.choices(alphabet, k=seeded.randint(1, 4)))
                else:
                    part = text[at:at + seeded.randint(1, 30)]
                    text[at:at] = part
            answer = self.client.infer("pair", bytes(text), floats([4, 5, 6]))
            self.assertIn(answer.status, (200, 400), bytes(text))
            self.assertIn("outputs" if answer.status == 200 else "error", answer.json)


if __name__ == "__main__":
    server_process.main()
