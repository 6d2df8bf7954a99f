#!/usr/bin/env python3
"""Requests that run together along a dimension."""

import json
import random
import threading

import models
import server_process
from server_process import Client, ServerTest, request, tensor

# y = x after many additions of 1: long enough for other requests to come meanwhile
LONG = """
!t = !sv.tensor<f32[n, m]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %one = sv.constant {value = dense<1.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<["20000"]>} : (!t) -> !t {
  ^bb0(%s: !t):
    %1 = sv.add %s, %one : (!t, !sv.tensor<f32[]>) -> !t
    sv.yield %1 : !t
  }
  return %0 : !t
}
"""

# y = 2 * x; fails if an element of x is 4
DOUBLED = """
!t = !sv.tensor<f32[n]>
!s = !sv.tensor<f32[]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %four = sv.constant {value = dense<4.0> : tensor<f32>} : !s
  %0 = sv.sub %x, %four : (!t, !s) -> !t
  %1 = sv.abs %0 : (!t) -> !t
  %2 = sv.reduce_min %1 {axes = array<i64: 0>, keep_dims = false} : (!t) -> !s
  %zero = sv.constant {value = dense<0.0> : tensor<f32>} : !s
  %3 = sv.greater %2, %zero : (!s, !s) -> !sv.tensor<bool[]>
  sv.assert %3 {message = "x must not be 4"} : !sv.tensor<bool[]>
  %4 = sv.add %x, %x : (!t, !t) -> !t
  return %4 : !t
}
"""

# y = the cumulative sums of x along t, times s; the rows are along the second axis
SCALED = """
!t = !sv.tensor<f32[3, n]>
func.func @main(%x: !t {sv.name = "x"}, %s: !sv.tensor<f32[k]> {sv.name = "s"})
    -> (!t {sv.name = "y"}, !sv.tensor<f32[k]> {sv.name = "r"}) {
  %0 = sv.cum_sum %x {axis = 0 : i64} : (!t) -> !t
  %1 = sv.reduce_sum %s {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32[k]>) -> !sv.tensor<f32[]>
  %one = sv.constant {value = dense<1.0> : tensor<f32>} : !sv.tensor<f32[]>
  %zero = sv.sub %one, %one : (!sv.tensor<f32[]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[]>
  %2 = sv.loop %0 {index = "$i", trip_count = #sv.dims<["20000"]>} : (!t) -> !t {
  ^bb0(%c: !t):
    %3 = sv.add %c, %zero : (!t, !sv.tensor<f32[]>) -> !t
    sv.yield %3 : !t
  }
  %4 = sv.mul %2, %1 : (!t, !sv.tensor<f32[]>) -> !t
  return %4, %s : !t, !sv.tensor<f32[k]>
}
"""

# y = the sums of the rows of x
SUMS = """
!t = !sv.tensor<f32[m, n]>
!y = !sv.tensor<f32[m]>
func.func @main(%x: !t {sv.name = "x"}) -> (!y {sv.name = "y"}) {
  %0 = sv.reduce_sum %x {axes = array<i64: 1>, keep_dims = false} : (!t) -> !y
  return %0 : !y
}
"""

# y = 2 * x
PRODUCT = """
!t = !sv.tensor<f32[n, m]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %0 = sv.add %x, %x : (!t, !t) -> !t
  return %0 : !t
}
"""

# y = x, then x again
TWICE = """
!t = !sv.tensor<f32[m]>
!y = !sv.tensor<f32["2*m"]>
func.func @main(%x: !t {sv.name = "x"}) -> (!y {sv.name = "y"}) {
  %0 = sv.concat %x, %x {axis = 0 : i64} : (!t, !t) -> !y
  return %0 : !y
}
"""

# y = 1
NO_INPUTS = """
func.func @main() -> (!sv.tensor<f32[1]> {sv.name = "y"}) {
  %0 = sv.constant {value = dense<1.0> : tensor<1xf32>} : !sv.tensor<f32[1]>
  return %0 : !sv.tensor<f32[1]>
}
"""

COUNT = 20000.0


def config(folder, model, **members):
    (folder / model / "config.json").write_text(json.dumps(members))


def rows(values):
    return request(tensor("x", "FP32", [len(values), len(values[0])], values))


class BatchTest(ServerTest):

    @classmethod
    def setUpModels(cls, folder):
        add = server_process.compiler.add
        add(folder, "long", LONG)
        config(folder, "long", batch={"dim": "n", "max": 16})
        add(folder, "doubled", DOUBLED)
        config(folder, "doubled", batch={"dim": "n", "asserted": True})
        add(folder, "scaled", SCALED)
        config(folder, "scaled", batch={})
        add(folder, "sums", SUMS)

    def together(self, count, work):
        """Calls work(client, number) on as many threads, each with a connection of its own."""
        errors = []

        def run(number):
            client = Client(self.server.http)
            try:
                work(client, number)
            except AssertionError as error:
                errors.append(str(error))
            finally:
                client.close()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_results(self):
        def work(client, number):
            rng = random.Random(number)
            for _ in range(6):
                n, m = rng.randint(1, 20), rng.randint(1, 3)  # also more rows than 16
                values = [[float(rng.randint(0, 99)) for _ in range(m)] for _ in range(n)]
                flat = [value for row in values for value in row]
                answer = client.infer("long", request(tensor("x", "FP32", [n, m], flat)))
                self.assertEqual(answer.status, 200, answer.text)
                self.assertEqual(answer.output("y")["shape"], [n, m])
                self.assertEqual(answer.data("y"), [value + COUNT for value in flat])
        self.together(16, work)

    def test_joins(self):
        before = self.server.statistics("long")

        def work(client, number):
            for i in range(4):
                answer = client.infer("long", rows([[number, i]]))
                self.assertEqual(answer.data("y"), [number + COUNT, i + COUNT])
        self.together(16, work)
        after = self.server.statistics("long")
        requests = after["inference_count"] - before["inference_count"]
        calls = after["execution_count"] - before["execution_count"]
        self.assertEqual(requests, 64)
        self.assertLess(calls, requests)
        self.assertGreaterEqual(calls, 64 // 16)

    def test_another_axis_and_equal_inputs(self):
        before = self.server.statistics("scaled")

        def work(client, number):
            for i in range(4):
                n, scale = 1 + (number + i) % 3, [1.0, float(number % 2)]
                x = [[float(10 * number + i + t * j) for j in range(n)] for t in range(3)]
                flat = [value for row in x for value in row]
                answer = client.infer("scaled", request(tensor("x", "FP32", [3, n], flat),
                                                        tensor("s", "FP32", [2], scale)))
                self.assertEqual(answer.status, 200, answer.text)
                sums = [sum(row[j] for row in x[:t + 1]) * sum(scale)
                        for t in range(3) for j in range(n)]
                self.assertEqual(answer.data("y"), sums)
                self.assertEqual(answer.data("r"), scale)
        self.together(16, work)
        after = self.server.statistics("scaled")
        self.assertLess(after["execution_count"] - before["execution_count"], 64)

    def test_only_the_wrong_request_fails(self):
        def work(client, number):
            for i in range(50):
                value = (number + i) % 4 if number % 5 else 4
                answer = client.infer("doubled", request(tensor("x", "FP32", [1], [value])))
                if value == 4:
                    self.fails(answer, "x must not be 4")
                else:
                    self.assertEqual(answer.data("y"), [2 * value])
        self.together(10, work)

    def test_wrong_inputs_do_not_join(self):
        self.fails(self.client.infer("long", request()), "missing input")
        self.fails(self.client.infer("long", request(tensor("x", "FP32", [2], [1, 2]))), "x")

    def test_client_that_leaves(self):
        def work(client, number):
            if number % 2:
                client.connection.request("POST", "/v2/models/long/infer",
                                          json.dumps(rows([[1.0]])))
            else:
                self.assertEqual(client.infer("long", rows([[3.0]])).data("y"), [3 + COUNT])
        self.together(16, work)
        server_process.wait_until(
            lambda: self.server.statistics("long")["pending_count"] == 0, "all requests ended")

    def test_deadlines(self):
        def work(client, number):
            sent = rows([[1.0]])
            if number % 2:
                sent["parameters"] = {"timeout": 1}
            answer = client.infer("long", sent)
            self.assertEqual(answer.status, 504 if number % 2 else 200, answer.text)
            if number % 2:
                self.assertIn(answer.json["error"],
                              ("the deadline passed before the call was started",
                               "the call's deadline passed"))
        self.together(8, work)

    def test_a_model_without_inputs(self):
        server_process.compiler.add(self.folder, "none", NO_INPUTS)
        config(self.folder, "none", batch={"dim": "n"})
        self.fails(self.client.request("POST", "/v2/repository/models/none/load"),
                   '"batch": the module has no dimension "n"')
        config(self.folder, "none")
        self.ok(self.client.request("POST", "/v2/repository/models/none/load"))
        self.assertEqual(self.client.infer("none", request()).data("y"), [1])

    def test_wrong_configurations(self):
        def refused(model, text, **batch):
            config(self.folder, model, batch=batch)
            self.fails(self.client.request("POST", f"/v2/repository/models/{model}/load"), text)
        for model, source in (("sums", SUMS), ("product", PRODUCT), ("twice", TWICE)):
            server_process.compiler.add(self.folder, model, source)
        refused("sums", '"n" is not a batch dim of the module; "asserted" permits it', dim="n")
        refused("sums", 'the module has no dimension "q"', dim="q")
        refused("sums", 'unknown member "delay"', dim="m", delay=1)
        refused("sums", '"asserted": expected true or false', dim="n", asserted=1)
        refused("product", '"batch": the module has several batch dims: expected "dim"')
        refused("twice", '"batch": the module has no batch dim')
        refused("twice", '"y": expected a tensor of numbers with at most one dim "m"', dim="m",
                asserted=True)
        config(self.folder, "sums", batch={})
        self.ok(self.client.request("POST", "/v2/repository/models/sums/load"))
        self.assertEqual(self.client.infer("sums", rows([[1, 2], [3, 4]])).data("y"), [3, 7])


if __name__ == "__main__":
    server_process.main()
