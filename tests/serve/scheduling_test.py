#!/usr/bin/env python3
"""Deadlines, priorities, limits and memory, and the end of the server."""

import json
import pathlib
import signal
import socket
import tempfile
import threading
import unittest

import models
import raw_http
import server_process
from server_process import ServerTest, blob, floats, request, running, tensor, wait_until

LONG = 10**9  # iterations: about a minute
SHORT = 5 * 10**6  # iterations: some tenths of a second


def counted(count, **members):
    return request(tensor("count", "INT64", [], [count]), tensor("x", "FP32", [1], [0]),
                   tensor("h", "FP32", [1], [0]), **members)


class Limits:
    """Functions of tests with the model "slow"."""

    def send(self, server, sent, model="slow", binary=b""):
        """Sends a request on a connection of its own, without the wait for its response."""
        connection = server.socket()
        self.addCleanup(connection.close)
        text = json.dumps(sent).encode()
        connection.sendall(raw_http.post(f"/v2/models/{model}/infer", text + binary,
                                         f"{server_process.JSON_BYTES}: {len(text)}"))
        return connection

    def receive(self, connection):
        with connection, connection.makefile("rb") as stream:
            return raw_http.read_response(stream)

    def wait_for_pending(self, server, count, model="slow"):
        wait_until(lambda: server.statistics(model)["pending_count"] == count,
                   f"{count} requests are pending")


class SchedulingTest(Limits, ServerTest):
    OPTIONS = ("--capacity", "cpu.global=4MiB")

    @classmethod
    def setUpModels(cls, folder):
        add = server_process.compiler.add
        add(folder, "slow", models.SLOW)
        add(folder, "limited", models.SLOW)
        (folder / "limited/config.json").write_text('{"max_requests": 2, "timeout_ms": 100000}')
        add(folder, "late", models.SLOW)
        (folder / "late/config.json").write_text('{"timeout_ms": 1}')
        add(folder, "scaled", models.scaled(3))
        for name in ("strings", "budgeted"):
            add(folder, name, models.copy_of("str"))
        (folder / "budgeted/config.json").write_text('{"data_budgets": {"global": "64KiB"}}')

    def tearDown(self):
        for model in ("slow", "limited"):
            self.wait_for_pending(self.server, 0, model)

    def test_deadlines(self):
        for timeout in (1, 1000, 20000):
            sent = counted(LONG, parameters={"timeout": timeout})
            self.assertEqual(self.client.infer("slow", sent).status, 504)
        self.assertEqual(self.client.infer("late", counted(LONG)).status, 504)
        # 0 denotes none, so that the one of the model applies.
        sent = counted(LONG, parameters={"timeout": 0})
        self.assertEqual(self.client.infer("late", sent).status, 504)
        # A parameter of the request has precedence, and the longest time is no error.
        sent = counted(10, parameters={"timeout": 2**63 - 1})
        self.assertEqual(self.ok(self.client.infer("late", sent)).data("y"), [10])
        metrics = self.server.metrics()
        self.assertEqual(metrics['scopevm_requests_total{model="late/1",outcome="deadline"}'], 2)
        self.assertEqual(self.server.statistics("late")["inference_stats"]["fail"]["count"], 2)

    def test_deadlines_of_waiting_requests(self):
        busy = [self.send(self.server, counted(LONG)) for _ in range(2)]  # one per worker
        self.wait_for_pending(self.server, 2)
        waiting = self.send(self.server, counted(LONG, parameters={"timeout": 1000}))
        self.wait_for_pending(self.server, 3)
        for connection in busy:
            connection.close()
        self.assertEqual(self.receive(waiting)[0], 504)

    def test_priorities(self):
        """Of the requests that wait for memory, a later one of higher priority runs before one that
        would not end."""
        size = 400_000  # elements: two results do not fit

        def send(count, priority):
            sent = request(blob("x", "FP32", [size], 4 * size),
                           tensor("count", "INT64", [], [count]),
                           tensor("h", "FP32", [1], [0]), outputs=[{"name": "hn"}],
                           parameters={"priority": priority})
            return self.send(self.server, sent, binary=bytes(4 * size))
        busy = send(LONG, 0)
        self.wait_for_pending(self.server, 1)
        low = send(LONG, -1)
        self.wait_for_pending(self.server, 2)
        high = send(1, 1)
        self.wait_for_pending(self.server, 3)
        busy.close()
        self.assertEqual(self.receive(high)[0], 200)
        self.assertEqual(self.server.statistics("slow")["pending_count"], 1)
        low.close()

    def test_maximum_of_requests(self):
        busy = [self.send(self.server, counted(LONG), "limited") for _ in range(2)]
        self.wait_for_pending(self.server, 2, "limited")
        answer = self.client.infer("limited", counted(1))
        self.fails(answer, "the model has 2 requests in flight already", 429)
        self.assertEqual(answer.headers["retry-after"], "1")
        for connection in busy:
            connection.close()
        self.wait_for_pending(self.server, 0, "limited")
        self.ok(self.client.infer("limited", counted(1)))

    def test_requests_larger_than_the_capacity(self):
        size = 1 << 21  # elements: 8 MiB
        sent = request(blob("x", "FP32", [size], 4 * size))
        answer = self.client.infer("scaled", sent, bytes(4 * size))
        self.assertEqual(answer.status, 400, answer.text)
        self.assertIn("cpu.global", answer.json["error"])

    def test_memory_that_depends_on_data(self):
        sent = request(tensor("in", "BYTES", [1], ["a" * 100]))
        self.fails(self.client.infer("strings", sent),
                   '"): add a budget for "global" to data_budgets')
        self.ok(self.client.infer("budgeted", sent))
        sent["inputs"][0]["data"] = ["a" * 200_000]
        self.assertEqual(self.client.infer("budgeted", sent).status, 400)

    def test_requests_wait_for_memory(self):
        """Eight clients need 2 MiB each of 4 MiB."""
        size = 1 << 19
        sent = request(blob("x", "FP32", [size], 4 * size), parameters={"binary_data_output": True})
        statuses = []

        def ask():
            client = self.server.client()
            for _ in range(5):
                answer = client.infer("scaled", sent, floats([2.0]) * size)
                statuses.append((answer.status, answer.binary == floats([6.0]) * size))
            client.close()
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses, [(200, True)] * 40)
        metrics = self.server.metrics()
        held = metrics['scopevm_scheduler_pool_held_bytes{scheduler="0",pool="cpu.global"}']
        self.assertLess(held, 1 << 20)


class EndTest(Limits, unittest.TestCase):
    """The end of the server."""

    def setUp(self):
        self.models = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server_process.compiler.add(self.models, "slow", models.SLOW)

    def test_requests_in_flight_end(self):
        with running(self.models) as server:
            idle = server.socket()
            connections = [self.send(server, counted(SHORT, id=str(i))) for i in range(6)]
            wait_until(lambda: server.metrics()["scopevm_http_requests_total"] == 6,
                       "the requests are read")
            server.signal(signal.SIGTERM)
            server.line("draining")
            for number, connection in enumerate(connections):
                status, headers, body = self.receive(connection)
                self.assertEqual(status, 200)
                self.assertIn(headers.get("connection"), (None, "close"))
                self.assertEqual(json.loads(body)["id"], str(number))
            self.assertEqual(idle.recv(1), b"")
            idle.close()
            self.assertEqual(server.process.wait(server_process.PATIENCE), 0)
            with self.assertRaises(ConnectionRefusedError):
                server.socket()

    def test_new_connections_are_refused(self):
        with running(self.models) as server:
            long = self.send(server, counted(LONG))
            self.wait_for_pending(server, 1)
            server.signal(signal.SIGINT)
            server.line("draining")

            def is_refused():
                try:
                    with server.socket() as connection:
                        return connection.recv(1) == b""
                except (ConnectionRefusedError, ConnectionResetError):
                    return True
            wait_until(is_refused, "connections are refused")
            long.close()
            self.assertEqual(server.process.wait(server_process.PATIENCE), 0)

    def test_time_out_of_the_end(self):
        with running(self.models, "--drain-timeout", 0) as server:
            connections = [self.send(server, counted(LONG)) for _ in range(4)]
            self.wait_for_pending(server, 4)
            server.signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(server_process.PATIENCE), 0)
            for connection in connections:
                self.assertEqual(connection.recv(1), b"")

    def test_second_signal(self):
        with running(self.models) as server:
            connections = [self.send(server, counted(LONG)) for _ in range(4)]
            self.wait_for_pending(server, 4)
            server.signal(signal.SIGTERM)
            server.line("draining")
            server.signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(server_process.PATIENCE), 0)
            for connection in connections:
                self.assertEqual(connection.recv(1), b"")

    def test_clients_that_do_not_read(self):
        with running(self.models, "--drain-timeout", 0) as server:
            with server.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                raw_http.send_all(connection, raw_http.post("/v2/models/none/infer", b"") * 2000)
                server.signal(signal.SIGTERM)
                self.assertEqual(server.process.wait(server_process.PATIENCE), 0)


if __name__ == "__main__":
    server_process.main()
