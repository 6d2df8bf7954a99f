"""A server in a process of its own, and its clients."""

import contextlib
import http.client
import json
import os
import pathlib
import queue
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from models import Compiler

PATIENCE = 120  # seconds after which a test gives up
JSON_BYTES = "Inference-Header-Content-Length"

compiler = None  # of the programs that the command line names


class Answer:
    """A response. `json` is its JSON, and `binary` the bytes after it."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        end = int(headers.get(JSON_BYTES.lower(), len(body)))
        self.binary = body[end:]
        self.text = body[:end].decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.text)

    def output(self, name):
        return next(output for output in self.json["outputs"] if output["name"] == name)

    def data(self, name):
        return self.output(name)["data"]


class Client:
    """A connection that stays open between requests."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE)

    def request(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        response = self.connection.getresponse()
        received = response.read()
        lower = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, lower, received)

    def get(self, path):
        return self.request("GET", path)

    def infer(self, model, request, binary=None):
        """Sends a request, as a value or as text. Its bytes follow the JSON, if there are any."""
        text = request if isinstance(request, (str, bytes)) else json.dumps(request)
        text = text.encode() if isinstance(text, str) else text
        headers = {} if binary is None else {JSON_BYTES: str(len(text))}
        return self.request("POST", f"/v2/models/{model}/infer", text + (binary or b""), headers)

    def close(self):
        self.connection.close()


class Server:
    """Starts `scopevm serve` for a folder of models, and waits until it is ready, or without
    `waits` until it has its addresses. `launcher` is the command that starts it."""

    def __init__(self, models, *options, addresses=("127.0.0.1:0", "127.0.0.1:0"),
                 waits=True, launcher=()):
        command = [*launcher, compiler.programs / "scopevm", "serve", models, "--threads", 2,
                   "--http", addresses[0], "--metrics", addresses[1], *options]
        has_grpc = "--grpc" in options
        command += [] if has_grpc else ["--grpc", "none"]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(part) for part in command], text=True,
                                        stdout=subprocess.PIPE, stderr=self.errors)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read_output)
        self.reader.start()
        try:
            self.http = self.line("http ") if addresses[0] != "none" else None
            self.grpc = self.line("grpc ") if has_grpc else None
            self.metrics_address = self.line("metrics ") if addresses[1] != "none" else None
            if waits:
                self.line("ready")
        except BaseException:
            self.kill()
            raise

    def read_output(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def line(self, prefix):
        """Waits for a line of the server's output, and returns the rest of it."""
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line is None:
                raise AssertionError(f"the server ended before {prefix!r}: {self.messages()}")
            if line.startswith(prefix):
                return line[len(prefix):]

    def messages(self):
        self.errors.seek(0)
        return self.errors.read()

    def client(self):
        return Client(self.http)

    def socket(self):
        host, port = self.http.rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=PATIENCE)

    def metrics(self):
        """The values by name with labels."""
        client = Client(self.metrics_address)
        answer = client.get("/metrics")
        client.close()
        lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def statistics(self, model):
        client = self.client()
        answer = client.get(f"/v2/models/{model}/stats")
        client.close()
        return answer.json["model_stats"][-1]

    def resident_bytes(self):
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * 4096

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Ends the server, and returns its exit code."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self):
        """Ends the server if it runs, and closes its files."""
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.errors.close()


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.01)


def tensor(name, datatype, shape, data):
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def blob(name, datatype, shape, size):
    return {"name": name, "datatype": datatype, "shape": shape,
            "parameters": {"binary_data_size": size}}


def request(*inputs, **members):
    return {"inputs": list(inputs), **members}


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


class ServerTest(unittest.TestCase):
    """Tests with one server for the models that setUpModels() adds."""

    OPTIONS = ()

    @classmethod
    def setUpModels(cls, folder):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.setUpModels(cls.folder)
        cls.server = Server(cls.folder, *cls.OPTIONS)
        cls.addClassCleanup(cls.server.kill)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        if code != 0:
            raise AssertionError(f"exit code {code}: {cls.server.messages()}")

    def setUp(self):
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def fails(self, answer, message, status=400):
        """Checks an answer that reports an error."""
        self.assertEqual(answer.status, status, answer.text)
        self.assertIn(message, answer.json["error"])

    def assert_memory_is_flat(self, before, most):
        """Checks the growth of the server's memory. Sanitizers keep released memory."""
        if "SCOPEVM_SANITIZE" not in os.environ:
            self.assertLess(self.server.resident_bytes() - before, most)

    def ok(self, answer):
        self.assertEqual(answer.status, 200, answer.text)
        return answer


@contextlib.contextmanager
def running(models, *options, **arguments):
    """A server for the duration of a block, which must end it well."""
    server = Server(models, *options, **arguments)
    try:
        yield server
        code = server.stop()
        assert code == 0, f"exit code {code}: {server.messages()}"
    finally:
        server.kill()


def main():
    """Runs the tests of the program: NAME_test.py FOLDER_OF_PROGRAMS [TEST ...]"""
    global compiler
    compiler = Compiler(sys.argv.pop(1))
    unittest.main(module="__main__")
