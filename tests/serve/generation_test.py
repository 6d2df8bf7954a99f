#!/usr/bin/env python3
"""Generations: the steps of a model as server-sent events."""

import json
import pathlib
import random
import tempfile

import models
import raw_http
import server_process
from raw_http import post, read_response
from server_process import ServerTest, floats, request, running, tensor, wait_until

ENDLESS = 1_000_000  # steps: minutes


def counter(tokens, **parameters):
    return request(tensor("token", "INT64", [len(tokens)], tokens), parameters=parameters)


def countdown(value, **parameters):
    return request(tensor("x", "FP32", [1], [value]), parameters=parameters)


def counted(count, **parameters):
    return request(tensor("count", "INT64", [], [count]), tensor("x", "FP32", [1], [0]),
                   tensor("h", "FP32", [1], [0]), parameters=parameters)


def path_of(model):
    return f"/v2/models/{model}/generate_stream"


def events_in(body):
    """The data of the events."""
    parts = body.decode().split("\n\n")
    assert parts.pop() == "", "an incomplete event"
    assert all(part.startswith("data: ") and "\n" not in part for part in parts), parts
    return [json.loads(part.removeprefix("data: ")) for part in parts]


def values(events, name):
    return [output["data"] for event in events for output in event["outputs"]
            if output["name"] == name]


def write_config(folder, model, generate, **members):
    (folder / model / "config.json").write_text(json.dumps({"generate": generate, **members}))


class GenerationTest(ServerTest):

    @classmethod
    def setUpModels(cls, folder):
        add = server_process.compiler.add
        add(folder, "counter", models.COUNTER)
        write_config(folder, "counter", {"feedback": {"token": "next"}, "stop": {"next": [10, 12]},
                                         "steps": 50}, sequences={"states": {"sum": "total"}})
        add(folder, "countdown", models.COUNTDOWN)
        write_config(folder, "countdown", {"feedback": {"x": "next"}})
        add(folder, "slow", models.SLOW)
        write_config(folder, "slow", {"feedback": {"x": "y", "h": "hn"}, "steps": ENDLESS})
        add(folder, "pair", models.PAIR)

    def stream(self, model, sent):
        return self.client.request("POST", path_of(model), json.dumps(sent))

    def events(self, model, sent):
        answer = self.ok(self.stream(model, sent))
        self.assertEqual(answer.headers["content-type"], "text/event-stream")
        self.assertEqual(answer.headers["cache-control"], "no-cache")
        return events_in(answer.body)

    def pending(self, model):
        return self.server.statistics(model)["pending_count"]

    def test_steps(self):
        events = self.events("counter", {**counter([1], steps=3), "id": "a"})
        self.assertEqual(events[0], {
            "model_name": "counter", "model_version": "1", "id": "a",
            "outputs": [tensor("next", "INT64", [1], [2])]})
        self.assertEqual(values(events, "next"), [[2], [3], [4]])
        # The connection is open, and a generation of one step is an event, too.
        self.assertEqual(values(self.events("counter", counter([7], steps=1)), "next"), [[8]])
        wait_until(lambda: self.pending("counter") == 0, "the generation ends")

    def test_the_state_is_carried(self):
        sent = {**counter([1], steps=4), "outputs": [{"name": "total"}]}
        self.assertEqual(values(self.events("counter", sent), "total"), [[1], [3], [6], [10]])
        # An input that is a state is its initial value.
        sent["inputs"].append(tensor("sum", "INT64", [1], [100]))
        events = self.events("counter", sent)
        self.assertEqual(values(events, "total"), [[101], [103], [106], [110]])

    def test_stop_values(self):
        self.assertEqual(len(self.events("counter", counter([4]))), 6)
        self.assertEqual(len(self.events("counter", counter([11]))), 1)
        # Each row of a batch stops at one of the values.
        events = self.events("counter", counter([8, 1, 11]))
        self.assertEqual(values(events, "next")[-1], [17, 10, 20])
        self.assertEqual(len(self.events("counter", counter([12]))), 50)

    def test_a_sequence(self):
        sequence = {"sequence_id": "kept", "steps": 3}
        self.events("counter", counter([1], **sequence, sequence_start=True))
        sent = {**counter([4], sequence_id="kept"), "outputs": [{"name": "total"}]}
        self.assertEqual(self.ok(self.client.infer("counter", sent)).data("total"), [1 + 2 + 3 + 4])
        sent = {**counter([0], **sequence, sequence_end=True), "outputs": [{"name": "total"}]}
        self.assertEqual(values(self.events("counter", sent), "total"), [[10], [11], [13]])
        self.assertEqual(self.server.statistics("counter")["sequence_count"], 0)

    def test_errors_before_the_first_step(self):
        for steps in (0, 51, -1, True, "1"):
            self.fails(self.stream("counter", counter([1], steps=steps)),
                       'parameter "steps": expected an integer from 1 to 50')
        self.fails(self.stream("counter", counter([1], binary_data_output=True)),
                   "events have no binary data: request outputs as JSON")
        self.fails(self.stream("counter", {**counter([1]), "outputs": [{"name": "none"}]}), "none")
        self.fails(self.stream("pair", request()),
                   'config.json of the model has no "generate"')
        self.fails(self.stream("countdown", countdown(0)), 'output "y": an element is NaN')
        self.fails(self.stream("slow", counted(10**9, timeout=1000)), "deadline", 504)
        self.assertEqual(self.client.get(path_of("counter")).status, 405)

    def test_errors_in_a_later_step(self):
        events = self.events("countdown", countdown(2))
        self.assertEqual(values(events[:-1], "next"), [[1], [0]])
        self.assertEqual(list(events[-1]), ["error"])
        self.assertIn('output "y": an element is NaN', events[-1]["error"])
        events = self.events("slow", counted(100, timeout=200_000))
        self.assertGreater(len(events), 1)
        self.assertIn("deadline", events[-1]["error"])

    def test_binary_inputs(self):
        given = request(server_process.blob("x", "FP32", [1], 4), parameters={"steps": 2})
        text = json.dumps(given).encode()
        answer = self.client.request("POST", path_of("countdown"), text + floats([5]),
                                     {server_process.JSON_BYTES: str(len(text))})
        self.assertEqual(values(events_in(self.ok(answer).body), "next"), [[4], [3]])

    def test_http_1_0(self):
        body = json.dumps(counter([1], steps=3)).encode()
        data = post(path_of("counter"), body).replace(b"HTTP/1.1", b"HTTP/1.0")
        with self.server.socket() as connection, connection.makefile("rb") as stream:
            connection.sendall(data.replace(b"Host", b"Connection: keep-alive\r\nHost"))
            status, headers, _ = read_response(stream)
            self.assertEqual((status, headers["connection"]), (200, "close"))
            self.assertNotIn("transfer-encoding", headers)
            self.assertEqual(values(events_in(stream.read()), "next"), [[2], [3], [4]])

    def test_a_client_that_leaves(self):
        left = self.server.metrics()["scopevm_http_clients_left_total"]
        for end in (raw_http.reset, lambda connection: connection.close()):
            connection = self.server.socket()
            with connection.makefile("rb") as stream:
                connection.sendall(post(path_of("slow"), json.dumps(counted(1)).encode()))
                while stream.readline() != b"\r\n":
                    pass
                for _, chunk in zip(range(10), raw_http.read_chunks(stream)):
                    self.assertEqual(len(events_in(chunk)), 1)
            end(connection)
            wait_until(lambda: self.pending("slow") == 0, "the generation ends")
        self.assertEqual(self.server.metrics()["scopevm_http_clients_left_total"], left + 2)


    def test_abandoned_generations(self):
        """Clients that close or reset the connection at any position of the events."""
        seeded = random.Random(7)
        data = post(path_of("slow"), json.dumps(counted(1)).encode())
        for _ in range(100):
            connection = self.server.socket()
            connection.sendall(data)
            if size := seeded.randrange(5000):
                connection.recv(size)
            if seeded.random() < 0.5:
                raw_http.reset(connection)
            else:
                connection.close()
        wait_until(lambda: self.pending("slow") == 0, "the generations end")
        wait_until(lambda: self.server.metrics()["scopevm_http_connections"] <= 1, "they end")
        self.assertEqual(self.server.metrics()["scopevm_http_body_bytes_in_flight"], 0)


class LimitsTest(server_process.unittest.TestCase):
    """Servers with limits."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_a_slow_reader(self):
        """It has no memory of the pools, and no step runs while its events wait."""
        server_process.compiler.add(self.folder, "countdown", models.COUNTDOWN)
        write_config(self.folder, "countdown", {"feedback": {"x": "next"}})
        size, steps = 100_000, 40  # an event has about 0.8 MB
        sent = request(server_process.blob("x", "FP32", [size], 4 * size),
                       outputs=[{"name": "next"}], parameters={"steps": steps})
        text = json.dumps(sent).encode()
        binary = floats([1000.5] * size)
        header = f"{server_process.JSON_BYTES}: {len(text)}"
        with running(self.folder, "--capacity", "cpu.global=1MiB") as server:
            count = lambda: server.statistics("countdown")["inference_count"]
            with server.socket() as connection, connection.makefile("rb") as stream:
                connection.sendall(post(path_of("countdown"), text + binary, header))
                wait_until(lambda: count() > 0, "the first step has ended")
                client = server.client()
                for _ in range(20):  # each needs the memory of the pool
                    answer = client.infer("countdown", {**sent, "parameters": {}}, binary)
                    self.assertEqual(answer.status, 200, answer.text[:200])
                client.close()
                self.assertLess(count(), 20 + steps // 2)
                status, _, body = read_response(stream)
                self.assertEqual(status, 200)
                events = events_in(body)
            self.assertEqual(values(events, "next")[-1][:2], [1000.5 - steps] * 2)

    def test_the_end_of_the_server(self):
        server_process.compiler.add(self.folder, "slow", models.SLOW)
        write_config(self.folder, "slow", {"feedback": {"x": "y"}, "steps": ENDLESS})
        with running(self.folder, "--drain-timeout", 0) as server, server.socket() as connection:
            with connection.makefile("rb") as stream:
                connection.sendall(post(path_of("slow"), json.dumps(counted(1)).encode()))
                self.assertIn(b"200", stream.readline())
                self.assertEqual(server.stop(), 0)

    def test_wrong_configurations(self):
        server_process.compiler.add(self.folder, "counter", models.COUNTER)
        states = {"states": {"sum": "total"}}
        cases = (
            ({"feedback": {"none": "next"}}, {}, 'the model has no input "none"'),
            ({"feedback": {"token": "none"}}, {}, 'the model has no output "none"'),
            ({"feedback": {"sum": "total"}}, {"sequences": states}, 'input "sum" is a state'),
            ({"stop": {"none": 1}}, {}, 'the model has no output "none"'),
            ({"stop": {"next": 0.5}}, {}, '"stop": expected an integer'),
            ({"stop": []}, {}, "expected an object of values by output"),
            ({"steps": 0}, {}, "expected an integer from 1 to 1000000"),
            ({}, {"batch": {"dim": "n"}}, '"generate" and "batch" exclude each other'))
        server_process.compiler.add(self.folder, "countdown", models.COUNTDOWN)
        write_config(self.folder, "countdown", {"stop": {"next": 0}})
        server_process.compiler.add(self.folder, "slow", models.SLOW)
        write_config(self.folder, "slow", {"feedback": {"count": "y"}})
        with running(self.folder) as server:
            for name, message in (
                    ("next", ": expected a tensor of integers or booleans"),
                    ("y", " differ: expected tensors of the same type and rank")):
                self.assertIn(f'output "{name}"{message}', server.messages())
            self.assertIn('config.json: "generate": ', server.messages())
            client = server.client()
            for generate, members, message in cases:
                write_config(self.folder, "counter", generate, **members)
                answer = client.request("POST", "/v2/repository/models/counter/load")
                self.assertEqual(answer.status, 400, answer.text)
                self.assertIn(message, answer.json["error"])
            client.close()


if __name__ == "__main__":
    server_process.main()
