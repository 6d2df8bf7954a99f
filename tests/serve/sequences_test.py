#!/usr/bin/env python3
"""Sequences of requests: their states, order, ends, limits and errors."""

import json
import random
import threading
import time

import models
import raw_http
import server_process
from server_process import ServerTest, request, tensor, wait_until

LONG = 10**9  # iterations: about a minute
LOST = ": expected sequence_start in its first request; it may have ended because it was idle"


def step(value, sequence, **parameters):
    return request(tensor("x", "FP32", [1, 2], [value, -value]),
                   parameters={"sequence_id": sequence, **parameters})


def slow_step(count, sequence, **parameters):
    return request(tensor("count", "INT64", [], [count]), tensor("x", "FP32", [1], [0]),
                   parameters={"sequence_id": sequence, **parameters})


def write_config(folder, model, **sequences):
    (folder / model / "config.json").write_text(json.dumps({"sequences": sequences}))


class SequencesTest(ServerTest):

    @classmethod
    def setUpModels(cls, folder):
        add = server_process.compiler.add
        cls.OPTIONS = ("--access-log", folder / ".log")
        add(folder, "sum", models.SUM)
        write_config(folder, "sum", states={"h": "hn"})
        add(folder, "short", models.SUM)
        write_config(folder, "short", states={"h": "hn"}, idle_timeout_ms=1, max=3)
        add(folder, "few", models.SUM)
        write_config(folder, "few", states={"h": "hn"}, max=3)
        add(folder, "slow", models.SLOW)
        write_config(folder, "slow", states={"h": "hn"})
        add(folder, "growing", models.GROWING, "--state", "rows=grown", "--dim", "m=0..64",
            "--dim", "k=1..8")
        write_config(folder, "growing", dims={"m_capacity": 64})

    def sequence_count(self, model):
        return self.server.statistics(model)["sequence_count"]

    def run_step(self, model, sent):
        return self.ok(self.client.infer(model, sent))

    def test_a_sequence(self):
        total = 0
        for value in (1, 2, 3):
            total += value
            answer = self.run_step("sum", step(value, 7, sequence_start=value == 1))
            self.assertEqual([output["name"] for output in answer.json["outputs"]], ["y"])
            self.assertEqual(answer.data("y"), [total**2] * 2)
        self.assertEqual(self.sequence_count("sum"), 1)
        # The output of the state, on request.
        sent = {**step(4, 7, sequence_end=True), "outputs": [{"name": "hn"}, {"name": "y"}]}
        answer = self.run_step("sum", sent)
        self.assertEqual((answer.data("hn"), answer.data("y")), ([10, -10], [100, 100]))
        self.assertEqual(self.sequence_count("sum"), 0)
        self.fails(self.client.infer("sum", step(1, 7)),
                   'sequence "7"' + LOST)

    def test_a_start_begins_again(self):
        for _ in range(3):
            self.run_step("sum", step(5, "again", sequence_start=True))
            self.assertEqual(self.run_step("sum", step(1, "again")).data("y"), [36, 36])
        answer = self.run_step("sum", step(2, "again", sequence_start=True, sequence_end=True))
        self.assertEqual(answer.data("y"), [4, 4])
        self.assertEqual(self.sequence_count("sum"), 0)

    def test_names_of_sequences(self):
        """Numbers up to 64 bits and strings; a number and its text are the same sequence."""
        for name in (1, -1, 2**63 - 1, 2**63, 2**64 - 1, "a b", "\u4e16", "0"):
            self.run_step("sum", step(1, name, sequence_start=True))
            self.assertEqual(self.run_step("sum", step(1, str(name))).data("y"), [4, 4])
            self.run_step("sum", step(1, name, sequence_end=True))
        # 0 and the empty string denote no sequence.
        for name in (0, ""):
            self.fails(self.client.infer("sum", step(1, name)), 'input "h"')
            self.fails(self.client.infer("sum", step(1, name, sequence_start=True)),
                       'parameter "sequence_start" or "sequence_end" without "sequence_id"')

    def test_errors_leave_the_state(self):
        self.run_step("sum", step(2, "kept", sequence_start=True))
        given = step(1, "kept")
        given["inputs"].append(tensor("h", "FP32", [1, 2], [0, 0]))
        self.fails(self.client.infer("sum", given), 'input "h" is a state of the sequence')
        other = step(1, "kept")
        other["inputs"] = [tensor("x", "FP32", [3, 2], [1] * 6)]
        self.assertEqual(self.client.infer("sum", other).status, 400)
        self.assertEqual(self.client.infer("sum", {**step(1, "kept"), "inputs": []}).status, 400)
        self.assertEqual(self.run_step("sum", step(1, "kept", sequence_end=True)).data("y"), [9, 9])

    def test_a_deadline_in_the_middle(self):
        self.run_step("slow", slow_step(1, "late", sequence_start=True))
        late = slow_step(LONG, "late", timeout=1000)
        self.assertEqual(self.client.infer("slow", late).status, 504)
        sent = {**slow_step(1, "late"), "outputs": [{"name": "hn"}]}
        self.assertEqual(self.run_step("slow", sent).data("hn"), [2])
        # The end counts even if its request fails.
        late["parameters"]["sequence_end"] = True
        self.assertEqual(self.client.infer("slow", late).status, 504)
        wait_until(lambda: self.sequence_count("slow") == 0, "the sequence ends")

    def test_interleaved_sequences(self):
        seeded = random.Random(1)
        sums = {name: 0 for name in range(1, 101)}
        for name in sums:
            self.run_step("sum", step(0, name, sequence_start=True))
        self.assertEqual(self.sequence_count("sum"), len(sums))
        for _ in range(400):
            name, value = seeded.choice(list(sums)), seeded.randint(-9, 9)
            sums[name] += value
            self.assertEqual(self.run_step("sum", step(value, name)).data("y"), [sums[name]**2] * 2)
        for name in sums:
            self.run_step("sum", step(0, name, sequence_end=True))
        self.assertEqual(self.sequence_count("sum"), 0)

    def test_a_state_that_grows(self):
        rows = []
        for count in (1, 3, 8, 2):
            added = [[float(row), 1.0] for row in range(count)]
            rows += added
            sent = request(tensor("x", "FP32", [count, 2], added),
                            parameters={"sequence_id": 5, "sequence_start": len(rows) == count})
            expected = [sum(row[column] for row in rows) for column in (0, 1)]
            answer = self.run_step("growing", sent)
            self.assertEqual([output["name"] for output in answer.json["outputs"]], ["y"])
            self.assertEqual(answer.data("y"), expected)
        full = request(tensor("x", "FP32", [8, 2], [1] * 16), parameters={"sequence_id": 5})
        answers = [self.client.infer("growing", full).status for _ in range(8)]
        self.assertEqual(answers, [200] * 6 + [400] * 2)  # 14 rows, at most 64

    def test_requests_at_once(self):
        """Requests of one sequence on many connections run one after the other."""
        self.run_step("sum", step(0, "many", sequence_start=True))
        squares = []

        def add_ones():
            client = self.server.client()
            for _ in range(20):
                squares.append(client.infer("sum", step(1, "many")).data("y")[0])
            client.close()
        threads = [threading.Thread(target=add_ones) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(squares), [count**2 for count in range(1, 161)])
        self.run_step("sum", step(0, "many", sequence_end=True))

    def test_pipelined_requests(self):
        steps = [step(value, "piped", sequence_start=value == 0) for value in range(40)]
        data = b"".join(raw_http.post("/v2/models/sum/infer", json.dumps(one).encode())
                        for one in steps)
        totals = [sum(range(value + 1))**2 for value in range(40)]
        found = [json.loads(response[2])["outputs"][0]["data"][0]
                 for response in raw_http.exchange(self.server, data, 40)]
        self.assertEqual(found, totals)
        self.run_step("sum", step(0, "piped", sequence_end=True))

    def test_waiting_requests_of_clients_that_leave(self):
        """Requests wait while one of their sequence runs; the sequence goes on without them."""
        self.run_step("slow", slow_step(1, "left", sequence_start=True))
        running = self.server.socket()
        body = json.dumps(slow_step(LONG, "left")).encode()
        running.sendall(raw_http.post("/v2/models/slow/infer", body))
        wait_until(lambda: self.server.statistics("slow")["pending_count"] == 1, "it runs")
        waiting = [self.server.socket() for _ in range(5)]
        for connection in waiting:
            connection.sendall(raw_http.post("/v2/models/slow/infer", body))
        wait_until(lambda: self.server.statistics("slow")["pending_count"] == 6, "the others wait")
        left = self.server.metrics()["scopevm_http_clients_left_total"]
        for connection in waiting:
            connection.close()
        wait_until(lambda: self.server.metrics()["scopevm_http_clients_left_total"] == left + 5,
                   "the server has noticed it")
        running.close()
        wait_until(lambda: self.server.statistics("slow")["pending_count"] == 0, "they end")
        log = self.folder / ".log"
        wait_until(lambda: log.read_text().count('"error":"the request was cancelled"') == 5,
                   "the log has the requests")
        sent = {**slow_step(1, "left", sequence_end=True), "outputs": [{"name": "hn"}]}
        self.assertEqual(self.run_step("slow", sent).data("hn"), [2])

    def test_a_request_after_the_end(self):
        """It came while the last request of the sequence ran."""
        self.run_step("slow", slow_step(1, "ended", sequence_start=True))
        body = json.dumps(slow_step(2 * 10**7, "ended", sequence_end=True)).encode()
        last = self.server.socket()
        last.sendall(raw_http.post("/v2/models/slow/infer", body))
        wait_until(lambda: self.server.statistics("slow")["pending_count"] == 1
                   or self.sequence_count("slow") == 0, "it runs or has ended")
        answer = self.client.infer("slow", slow_step(1, "ended"))
        self.assertEqual(answer.status, 400)
        self.assertRegex(answer.json["error"], f'"ended"({LOST}| has ended before this request)')
        last.close()
        wait_until(lambda: self.sequence_count("slow") == 0, "the sequence ends")

    def test_idle_sequences_end(self):
        self.run_step("short", step(1, 1, sequence_start=True))
        wait_until(lambda: self.sequence_count("short") == 0, "the idle sequence ends")
        self.fails(self.client.infer("short", step(1, 1)), LOST)

    def test_maximum_of_sequences(self):
        for name in (1, 2, 3):
            self.run_step("few", step(1, name, sequence_start=True))
        answer = self.client.infer("few", step(1, 4, sequence_start=True))
        self.fails(answer, "there are 3 sequences already", 429)
        self.assertEqual(answer.headers["retry-after"], "1")
        self.run_step("few", step(1, 2, sequence_end=True))
        self.run_step("few", step(1, 4, sequence_start=True))
        for name in (1, 3, 4):
            self.assertEqual(self.run_step("few", step(1, name, sequence_end=True)).data("y"),
                             [4, 4])

    def test_memory_of_sequences(self):
        """Sequences that begin and end leave no memory."""
        def cycle(count):
            for name in range(1, count + 1):
                self.run_step("sum", step(1, name, sequence_start=True, sequence_end=True))
        cycle(300)
        time.sleep(0.1)
        before = self.server.resident_bytes()
        cycle(1000)
        self.assert_memory_is_flat(before, 8 << 20)


if __name__ == "__main__":
    server_process.main()
