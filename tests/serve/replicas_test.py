#!/usr/bin/env python3
"""Replicas and haproxy, with the configuration of examples/serve/replicas: replicas that are killed
or replace their models under load."""

import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import models
import server_process
from server_process import Client, Server, request, tensor, wait_until

HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
CONFIGURATION = (pathlib.Path(__file__).resolve().parents[2] /
                 "examples/serve/replicas/haproxy.cfg")
REPLICAS = (1, 2, 3)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class ReplicasTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server_process.compiler.add(self.folder, "scaled", models.scaled(2))
        self.ports = {i: (free_port(), free_port()) for i in REPLICAS}
        self.address = f"127.0.0.1:{free_port()}"
        self.replicas = {i: self.start(i) for i in REPLICAS}
        environment = {**os.environ, "SCOPEVM_ADDRESS": self.address}
        for i, (port, agent) in self.ports.items():
            environment |= {f"SCOPEVM_PORT{i}": str(port), f"SCOPEVM_AGENT{i}": str(agent)}
        self.proxy = subprocess.Popen([HAPROXY, "-f", str(CONFIGURATION)], env=environment,
                                      stderr=subprocess.DEVNULL)
        self.addCleanup(self.end)
        wait_until(self.answers, "the proxy has a replica")

    def start(self, i):
        port, agent = self.ports[i]
        return Server(self.folder, "--agent", f"127.0.0.1:{agent}",
                      addresses=(f"127.0.0.1:{port}", "none"))

    def end(self):
        self.proxy.kill()
        self.proxy.wait()
        for replica in self.replicas.values():
            replica.kill()

    def answers(self):
        self.assertIsNone(self.proxy.poll(), "the proxy has ended")
        client = Client(self.address)
        try:
            return client.get("/v2/health/ready").status == 200
        except OSError:
            return False
        finally:
            client.close()

    def agent_line(self, i):
        with socket.create_connection(("127.0.0.1", self.ports[i][1])) as agent:
            return agent.makefile().read()

    def load(self, work):
        """Sends requests from 6 clients while work() runs. A request whose connection closes is
        sent again. Returns the numbers of requests and of closed connections, and the answers that
        are not those of a version of the model."""
        stop, wrong = threading.Event(), []
        counts = {"requests": 0, "closed": 0}
        lock = threading.Lock()

        def run(number):
            client, value = Client(self.address), 0
            while not stop.is_set():
                value = (value + 1) % 100
                try:
                    answer = client.infer("scaled",
                                          request(tensor("x", "FP32", [1], [value + number])))
                except (OSError, http.client.HTTPException):
                    client.close()
                    client = Client(self.address)
                    with lock:
                        counts["closed"] += 1
                    continue
                with lock:
                    counts["requests"] += 1
                    if answer.status != 200 or answer.data("y")[0] not in (
                            2 * (value + number), 3 * (value + number)):
                        wrong.append((answer.status, answer.text))
            client.close()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        try:
            work(lambda: counts["requests"])
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        return counts, wrong

    def test_agent(self):
        self.assertEqual(self.agent_line(1), "ready up 100%\n")

    def test_killed_replicas(self):
        def work(done):
            for round_number in range(6):
                before, i = done(), REPLICAS[round_number % 3]
                wait_until(lambda: done() > before + 100, "requests are answered")
                self.replicas[i].signal(signal.SIGKILL)
                self.replicas[i].kill()
                killed = done()
                wait_until(lambda: done() > killed + 100, "others answer")
                self.replicas[i] = self.start(i)
        counts, wrong = self.load(work)
        self.assertEqual(wrong, [])
        self.assertGreater(counts["requests"], 1200)

    def test_new_version(self):
        def work(done):
            for version in range(2, 6):
                before = done()
                wait_until(lambda: done() > before + 100, "requests are answered")
                server_process.compiler.add(self.folder, "scaled", models.scaled(2 + version % 2),
                                            version=version)
                for replica in self.replicas.values():
                    client = replica.client()
                    answer = client.request("POST", "/v2/repository/models/scaled/load")
                    self.assertEqual(answer.status, 200, answer.text)
                    client.close()
        counts, wrong = self.load(work)
        self.assertEqual((wrong, counts["closed"]), ([], 0))

    def test_rolling_restart(self):
        def work(done):
            for i in REPLICAS:
                before = done()
                wait_until(lambda: done() > before + 100, "requests are answered")
                self.assertEqual(self.replicas[i].stop(), 0)
                self.replicas[i].kill()
                self.replicas[i] = self.start(i)
                wait_until(self.answers, "the proxy answers")
        counts, wrong = self.load(work)
        self.assertEqual((wrong, counts["closed"]), ([], 0))


if __name__ == "__main__":
    if HAPROXY is None:
        sys.exit(77)
    server_process.main()
