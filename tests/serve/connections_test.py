#!/usr/bin/env python3
"""Connections and HTTP: requests in parts, several at once, malformed, too large, or abandoned."""

import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import tempfile
import threading
import time

import models
import raw_http
import server_process
from raw_http import exchange, post, read_response
from server_process import PATIENCE, ServerTest, request, running, tensor, wait_until

LIVE = b"GET /v2/health/live HTTP/1.1\r\nHost: test\r\n\r\n"
LONG = 10**9  # iterations: about a minute
SAMPLE = re.compile(r'[a-z_]+(\{[a-z_]+="([^"\\\n]|\\.)*"(,[a-z_]+="([^"\\\n]|\\.)*")*\})? \S+')


def scaled(value, **members):
    return request(tensor("x", "FP32", [1], [value]), **members)


def infer(value):
    return post("/v2/models/twice/infer", json.dumps(scaled(value)).encode())


def counted(count, **members):
    return request(tensor("count", "INT64", [], [count]), tensor("x", "FP32", [1], [0]),
                   tensor("h", "FP32", [1], [0]), **members)


def result(response):
    return json.loads(response[2])["outputs"][0]["data"][0]


class ConnectionsTest(ServerTest):
    OPTIONS = ("--max-request", "1MiB")

    @classmethod
    def setUpModels(cls, folder):
        server_process.compiler.add(folder, "twice", models.scaled(2))
        server_process.compiler.add(folder, "slow", models.SLOW)

    def tearDown(self):
        self.ok(self.client.get("/v2/health/live"))

    def test_connections_stay_open(self):
        connection = self.server.socket()
        with connection, connection.makefile("rb") as stream:
            for value in range(20):
                connection.sendall(infer(value))
                self.assertEqual(result(read_response(stream)), 2 * value)
            connection.sendall(LIVE.replace(b"Host", b"Connection: close\r\nHost"))
            self.assertEqual(read_response(stream)[1]["connection"], "close")
            self.assertIsNone(read_response(stream))
        # HTTP/1.0 closes after each response.
        with self.server.socket() as connection, connection.makefile("rb") as stream:
            connection.sendall(b"GET /v2 HTTP/1.0\r\n\r\n")
            self.assertEqual(read_response(stream)[0], 200)
            self.assertIsNone(read_response(stream))

        with self.server.socket() as connection, connection.makefile("rb") as stream:
            for _ in range(2):
                connection.sendall(b"GET /v2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                self.assertEqual(read_response(stream)[1]["connection"], "keep-alive")

    def test_absolute_targets(self):
        for target, status in ((b"http://a:80/v2?x", 200), (b"HTTP://a/v2", 200),
                               (b"http://a", 200), (b"http:/v2", 404), (b"*", 404)):
            response = exchange(self.server, b"GET " + target + b" HTTP/1.1\r\n\r\n")
            self.assertEqual(response[0], status, target)

    def test_sockets_are_not_inherited(self):
        """A compiler that the server starts has none of its sockets."""
        folder = pathlib.Path(f"/proc/{self.server.process.pid}")
        with self.server.socket():
            self.ok(self.client.get("/v2"))
            sockets = [file.name for file in (folder / "fd").iterdir()
                       if str(file.readlink()).startswith("socket:")]
            self.assertGreaterEqual(len(sockets), 3)
            for number in sockets:
                fields = (folder / "fdinfo" / number).read_text().split()
                self.assertTrue(int(fields[fields.index("flags:") + 1], 8) & os.O_CLOEXEC)

    def test_pipelined_requests(self):
        count = 60
        data = b"".join(infer(value) + LIVE for value in range(count))
        responses = exchange(self.server, data, 2 * count)
        self.assertEqual([result(response) for response in responses[::2]],
                         [2 * value for value in range(count)])
        self.assertTrue(all(response[2] == b'{"live":true}' for response in responses[1::2]))

    def test_requests_in_parts(self):
        data = infer(4)
        for size in (1, 7, 50):
            with self.server.socket() as connection, connection.makefile("rb") as stream:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for at in range(0, len(data), size):
                    connection.sendall(data[at:at + size])
                self.assertEqual(result(read_response(stream)), 8)

    def test_chunked_body(self):
        body = json.dumps(scaled(3)).encode()
        head = b"POST /v2/models/twice/infer HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        for size in (1, 10, 1000):
            parts = [body[at:at + size] for at in range(0, len(body), size)]
            chunks = b"".join(b"%x;name=value\r\n%s\r\n" % (len(part), part) for part in parts)
            data = head + chunks + b"0\r\nTrailer: 1\r\n\r\n" + LIVE
            first, second = exchange(self.server, data, 2)
            self.assertEqual((result(first), second[0]), (6, 200))
        self.assertEqual(exchange(self.server, head + b"zz\r\n")[0], 400)
        large = b"%x\r\n" % (2 << 20) + bytes(2 << 20) + b"\r\n0\r\n\r\n"
        with self.server.socket() as connection, connection.makefile("rb") as stream:
            raw_http.send_all(connection, head + large)
            self.assertEqual(read_response(stream)[0], 413)

    def test_expect_continue(self):
        for value in ("100-continue", "100-Continue"):
            head, body = post("/v2/models/twice/infer", json.dumps(scaled(5)).encode(),
                              f"Expect: {value}").split(b"\r\n\r\n")
            with self.server.socket() as connection, connection.makefile("rb") as stream:
                connection.sendall(head + b"\r\n\r\n")
                self.assertEqual(read_response(stream)[0], 100)
                connection.sendall(body)
                self.assertEqual(result(read_response(stream)), 10)
        # Without the permission to send a body that is too large.
        head = post("/v2/models/twice/infer", b"", "Expect: 100-continue")
        head = head.replace(b"Content-Length: 0", b"Content-Length: 2000000")
        self.assertEqual(exchange(self.server, head)[0], 413)

    def test_large_headers_and_bodies(self):
        for line in (b"X: " + b"a" * 40000, b"\r\n".join(b"X%d: a" % i for i in range(6000))):
            with self.server.socket() as connection, connection.makefile("rb") as stream:
                raw_http.send_all(connection, b"GET /v2 HTTP/1.1\r\n" + line + b"\r\n\r\n")
                self.assertEqual(read_response(stream)[0], 431)
        path = b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\n\r\n"
        with self.server.socket() as connection, connection.makefile("rb") as stream:
            raw_http.send_all(connection, path)
            self.assertIn(read_response(stream)[0], (400, 431))
        with self.server.socket() as connection, connection.makefile("rb") as stream:
            raw_http.send_all(connection, post("/v2/models/twice/infer", bytes(1 << 21)))
            status, headers, _ = read_response(stream)
            self.assertEqual((status, headers["connection"]), (413, "close"))
            self.assertIsNone(read_response(stream))

    def test_malformed_requests(self):
        for data in (b"\r\n\r\n\r\n", b"GET\r\n\r\n", b"GET /v2\r\n\r\n", b"GET /v2 HTTP/9\r\n\r\n",
                     b"G\0T /v2 HTTP/1.1\r\n\r\n", b"GET /v2 HTTP/1.1\r\nno colon\r\n\r\n",
                     b"GET /v2 HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                     b"GET /v2 HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"GET /v2 HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                     b"GET /v2 HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                     b"GET /v2 HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                     b"\x16\x03\x01\x02\0\x01\0\x01\xfc", b"{\"inputs\":[]}\r\n\r\n"):
            with self.server.socket() as connection, connection.makefile("rb") as stream:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                response = read_response(stream)
                self.assertEqual(response is None or response[0], response is None or 400, data)
                self.assertIsNone(read_response(stream), data)

    def test_content_encoding(self):
        answer = self.client.request("POST", "/v2/models/twice/infer", b"x",
                                     {"Content-Encoding": "gzip"})
        self.fails(answer, "content encodings are not supported", 415)

    def test_abandoned_requests(self):
        """Clients that close or reset the connection at any position."""
        seeded, data = random.Random(5), infer(1)
        for _ in range(200):
            connection = self.server.socket()
            connection.sendall(data[:seeded.randint(0, len(data))])
            if seeded.random() < 0.5:
                raw_http.reset(connection)
            else:
                connection.close()
        # Connections that wait to be accepted are not yet counted.
        self.ok(self.client.get("/v2/health/live"))
        wait_until(lambda: (self.server.metrics()["scopevm_http_connections"] <= 1 and
                            self.server.metrics()["scopevm_http_body_bytes_in_flight"] == 0),
                   "the connections are closed")

    def test_a_client_that_leaves_cancels_its_request(self):
        body = json.dumps(counted(LONG)).encode()
        before = self.server.statistics("slow")["inference_stats"]["fail"]["count"]
        left = self.server.metrics()["scopevm_http_clients_left_total"]
        for end in (socket.socket.close, raw_http.reset,
                    lambda connection: connection.shutdown(socket.SHUT_WR)):
            connection = self.server.socket()
            connection.sendall(post("/v2/models/slow/infer", body))
            wait_until(lambda: self.server.statistics("slow")["pending_count"] == 1, "it runs")
            end(connection)
            wait_until(lambda: self.server.statistics("slow")["pending_count"] == 0, "it ends")
            connection.close()
        after = self.server.statistics("slow")["inference_stats"]["fail"]["count"]
        self.assertEqual(after - before, 3)
        metrics = self.server.metrics()
        self.assertEqual(metrics["scopevm_http_clients_left_total"] - left, 3)
        self.assertEqual(metrics['scopevm_requests_total{model="slow/1",outcome="cancelled"}'], 3)

    def test_clients_that_leave_after_other_requests(self):
        """Many connections: the last of their requests is one whose answer they do not wait for."""
        body = json.dumps(counted(LONG)).encode()
        before = self.server.statistics("slow")["inference_stats"]

        def send_and_leave():
            for value in range(100):
                with self.server.socket() as connection, connection.makefile("rb") as stream:
                    connection.sendall(infer(value))
                    self.assertEqual(result(read_response(stream)), 2 * value)
                    connection.sendall(post("/v2/models/slow/infer", body))
                    time.sleep(0.0001)
        threads = [threading.Thread(target=send_and_leave) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wait_until(lambda: self.server.statistics("slow")["pending_count"] == 0, "they end")
        after = self.server.statistics("slow")["inference_stats"]
        self.assertEqual(after["success"]["count"], before["success"]["count"])

    def test_idle_connections(self):
        """Also such that have sent a part of a request, or have closed their sending half."""
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limit)
        idle = [self.server.socket() for _ in range(min(10_000, limit[1] - 100))]
        wait_until(lambda: self.server.metrics()["scopevm_http_connections"] >= len(idle),
                   "all are accepted")
        for number, connection in enumerate(idle):
            connection.sendall((b"GET /v2 HT", LIVE, b"", b"GET")[number % 4])
            if number % 4 == 3:
                connection.shutdown(socket.SHUT_WR)
        for value in range(100):
            answer = self.ok(self.client.infer("twice", scaled(value)))
            self.assertEqual(answer.data("y"), [2 * value])
        for connection in idle:
            connection.close()
        wait_until(lambda: self.server.metrics()["scopevm_http_connections"] <= 1, "they end")

    def test_metrics_are_prometheus_text(self):
        client = server_process.Client(self.server.metrics_address)
        self.addCleanup(client.close)
        answer = self.ok(client.get("/metrics"))
        self.assertEqual(answer.headers["content-type"], "text/plain; version=0.0.4")
        types = {}
        for line in answer.text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.assertNotIn(name, types)
                self.assertIn(kind, ("counter", "gauge", "histogram"))
                types[name] = kind
            elif not line.startswith("# HELP "):
                self.assertRegex(line, SAMPLE)
                self.assertIsNotNone(SAMPLE.fullmatch(line), line)
                name = re.match("[a-z_]+", line)[0]
                self.assertIn(re.sub("_(bucket|sum|count)$", "", name), types)
                float(line.rsplit(" ", 1)[1])
        self.assertTrue(answer.body.endswith(b"\n"))
        self.fails(client.get("/"), "expected the path /metrics", 404)
        self.assertEqual(client.request("POST", "/metrics").status, 405)


class AddressesTest(server_process.unittest.TestCase):
    """Servers with other addresses and limits."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.models = self.folder / "models"
        server_process.compiler.add(self.models, "twice", models.scaled(2))

    def test_unix_socket(self):
        path = self.folder / "socket"
        with running(self.models, addresses=(f"unix:{path}", "127.0.0.1:0")) as server:
            self.assertEqual(server.http, f"unix:{path}")
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(PATIENCE)
                connection.connect(str(path))
                connection.sendall(infer(21))
                with connection.makefile("rb") as stream:
                    self.assertEqual(result(read_response(stream)), 42)
            with self.assertRaisesRegex(AssertionError, "another server uses the socket"):
                server_process.Server(self.models, addresses=(f"unix:{path}", "none"))
        self.assertFalse(path.exists())
        # The socket of a server that was killed is replaced, and removed at the end.
        addresses = ("127.0.0.1:0", f"unix:{path}")
        server = server_process.Server(self.models, addresses=addresses)
        server.kill()
        self.assertTrue(path.exists())
        with running(self.models, addresses=addresses):
            self.assertTrue(path.exists())
        self.assertFalse(path.exists())

    def test_wrong_addresses(self):
        file = self.folder / "file"
        file.write_text("")
        for address, message in (
                ("8000", "expected ADDRESS:PORT or unix:PATH"),
                ("127.0.0.1:x", "expected a port from 0 to 65535"),
                ("127.0.0.1:65536", "expected a port from 0 to 65535"),
                ("192.0.2.1:80", "Cannot assign requested address"),
                ("unix:", "expected a path of 1 to 107 bytes"),
                ("unix:/" + "a" * 200, "expected a path of 1 to 107 bytes"),
                (f"unix:{file}", "the file exists and is not a socket")):
            with self.assertRaisesRegex(AssertionError, re.escape(message)):
                server_process.Server(self.models, addresses=(address, "none"))

    def test_maximum_of_connections(self):
        with running(self.models, "--max-connections", 3) as server:
            idle = [server.socket() for _ in range(3)]
            wait_until(lambda: server.metrics()["scopevm_http_connections"] == 3, "they are open")
            with server.socket() as refused:
                self.assertEqual(refused.recv(1), b"")
            self.assertEqual(server.metrics()["scopevm_http_connections_refused_total"], 1)
            for connection in idle:
                connection.close()
            wait_until(lambda: server.metrics()["scopevm_http_connections"] == 0, "they end")
            self.assertEqual(exchange(server, LIVE)[0], 200)

    def test_maximum_of_bytes(self):
        """Bodies count with their length, or if they have none, with the bytes that came."""
        with running(self.models, "--max-request", "1GiB") as server:
            chunked = b"POST /v2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            # The first bytes of a chunk count when those before it are complete.
            chunk = b"10000\r\n" + bytes(1 << 16) + b"\r\n1\r\nx"
            size = (1 << 16) + 1
            bytes_in_flight = "scopevm_http_body_bytes_in_flight"
            first = server.socket()
            first.sendall(chunked + chunk)
            wait_until(lambda: server.metrics()[bytes_in_flight] == size, "the chunks are counted")
            rest = (1 << 30) - 2 * size + 1
            with server.socket() as second:
                second.sendall(b"POST /v2 HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % rest)
                wait_until(lambda: server.metrics()[bytes_in_flight] == rest + size,
                           "the length is counted")
                too_much = b"POST /v2 HTTP/1.1\r\nContent-Length: 65537\r\n\r\n"
                for refused in (chunked + chunk, too_much):
                    status, headers, body = exchange(server, refused)
                    self.assertEqual((status, headers["retry-after"]), (503, "1"))
                    self.assertIn(b"the requests that are in flight have too many bytes", body)
            first.sendall(b"\r\n0\r\n\r\n")
            with first, first.makefile("rb") as stream:
                self.assertEqual(read_response(stream)[0], 405)
            wait_until(lambda: server.metrics()[bytes_in_flight] == 0, "the connections end")
        # One body can always be read.
        with running(self.models, "--max-request", "3GiB") as server:
            status, _, body = exchange(server, too_much.replace(b"65537", b"0"))
            self.assertEqual(status, 405, body)

    def test_access_log_is_rotated(self):
        log, old = self.folder / "log", self.folder / "old"
        with running(self.models, "--access-log", log) as server:
            exchange(server, LIVE)
            log.rename(old)
            exchange(server, LIVE)  # to the same file under its new name
            server.signal(signal.SIGHUP)
            wait_until(log.exists, "the log is opened again")
            exchange(server, LIVE)
            # A file that cannot be opened leaves the old one.
            log.rename(self.folder / "kept")
            log.mkdir()
            server.signal(signal.SIGHUP)
            wait_until(lambda: f"{log}: Is a directory" in server.messages(), "it is reported")
            exchange(server, LIVE)
        self.assertEqual(len(old.read_text().splitlines()), 2)
        self.assertEqual(len((self.folder / "kept").read_text().splitlines()), 2)

    def test_access_log(self):
        log = self.folder / "log"
        with running(self.models, "--access-log", log) as server:
            client = server.client()
            trace = "0af7651916cd43dd8448eb211c80319c"
            client.request("POST", "/v2/models/twice/infer", json.dumps(scaled(1, id="a\"b\u4e16")),
                           {"traceparent": f"00-{trace}-b7ad6b7169203331-01"})
            client.infer("once", "{}")
            client.get("/%ff?\"")
            client.close()
            exchange(server, b"GET /\xff\x01\"\r\n\r\n")
            exchange(server, post("/v2", b"", "Content-Encoding: br"))
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([line["status"] for line in lines], [200, 400, 404, 400, 415])
        first = lines[0]
        self.assertEqual((first["method"], first["path"], first["model"], first["version"]),
                         ("POST", "/v2/models/twice/infer", "twice", "1"))
        self.assertEqual((first["id"], first["trace"]), ("a\"b\u4e16", trace))
        self.assertGreater(first["request_bytes"], 0)
        self.assertGreater(first["response_bytes"], 0)
        self.assertRegex(first["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertIn("unknown model", lines[1]["error"])
        wrong = self.folder / "none" / "log"
        with self.assertRaisesRegex(AssertionError, "No such file or directory"):
            server_process.Server(self.models, "--access-log", wrong)


if __name__ == "__main__":
    server_process.main()
