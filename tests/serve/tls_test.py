#!/usr/bin/env python3
"""TLS of HTTP and gRPC: protocols, certificates, their reload, and connections that break."""

import http.client
import json
import pathlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile

import grpc

import models
import raw_http
import server_process
from certificates import Authority
from raw_http import post, read_response
from rpc_client import RpcClient, infer_request
from server_process import (PATIENCE, ServerTest, blob, floats, request, running, tensor,
                            wait_until)

LONG = 10**9  # iterations: about a minute
LIVE = b"GET /v2/health/live HTTP/1.1\r\nHost: test\r\n\r\n"


def scaled(value):
    return request(tensor("x", "FP32", [1], [value]))


def counted(count):
    return request(tensor("count", "INT64", [], [count]), tensor("x", "FP32", [1], [0]),
                   tensor("h", "FP32", [1], [0]))


def context_for(authority, certificate=None, protocols=("http/1.1",)):
    """What a client trusts and has."""
    context = ssl.create_default_context(cafile=authority.certificate)
    if certificate:
        context.load_cert_chain(*certificate)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def connect(server, context):
    return context.wrap_socket(server.socket(), server_hostname="127.0.0.1")


def end_of_tls(connection):
    """Sends the end of TLS, but not that of the connection."""
    connection.setblocking(False)
    try:
        connection.unwrap()
    except ssl.SSLWantReadError:
        pass


def name_of(connection):
    """The name in the certificate of the server."""
    subject = connection.getpeercert()["subject"]
    return dict(entry[0] for entry in subject)["commonName"]


def infer(server, context, value):
    client = http.client.HTTPSConnection(server.http, context=context, timeout=PATIENCE)
    client.request("POST", "/v2/models/twice/infer", json.dumps(scaled(value)))
    body = client.getresponse().read()
    client.close()
    return json.loads(body)["outputs"][0]["data"][0]


def rpc_client(server, authority, certificate=None):
    texts = [pathlib.Path(path).read_bytes() for path in (certificate or ())[::-1]]
    credentials = grpc.ssl_channel_credentials(authority.certificate.read_bytes(), *texts)
    return RpcClient(server.grpc, PATIENCE, credentials)


def rpc_infer(client, value):
    sent = infer_request("twice", [("x", "FP32", [1], "fp32_contents", [value])])
    return client.call("ModelInfer", sent).raw_output_contents[0]


class TlsTest(ServerTest):

    @classmethod
    def setUpModels(cls, folder):
        add = server_process.compiler.add
        add(folder, "twice", models.scaled(2))
        add(folder, "slow", models.SLOW)
        add(folder, "counter", models.COUNTER)
        (folder / "counter/config.json").write_text(
            '{"generate": {"feedback": {"token": "next", "sum": "total"}}}')
        files = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.authority = Authority(files, "authority")
        certificate, key = cls.authority.issue("server")
        cls.context = context_for(cls.authority)
        cls.OPTIONS = ("--tls-cert", certificate, "--tls-key", key, "--grpc", "127.0.0.1:0",
                       "--max-request", "16MiB")

    def setUp(self):
        self.connection = self.connect()

    def connect(self):
        connection = connect(self.server, self.context)
        self.addCleanup(connection.close)
        return connection

    def connections(self):
        return self.server.metrics()["scopevm_http_connections"]

    def pending(self):
        return self.server.metrics()['scopevm_requests_in_flight{model="slow/1"}']

    def test_protocols(self):
        self.assertEqual(self.connection.version(), "TLSv1.3")
        self.assertEqual(self.connection.selected_alpn_protocol(), "http/1.1")
        self.assertEqual(name_of(self.connection), "server")
        older = context_for(self.authority, protocols=None)
        older.maximum_version = ssl.TLSVersion.TLSv1_2
        with connect(self.server, older) as connection:
            self.assertEqual(connection.version(), "TLSv1.2")
            self.assertIsNone(connection.selected_alpn_protocol())
        with self.assertRaisesRegex(ssl.SSLError, "no application protocol"):
            connect(self.server, context_for(self.authority, protocols=("h2",)))
        self.assertEqual(infer(self.server, self.context, 4), 8)

    def test_large_bodies(self):
        size = 1_000_000
        text = json.dumps(request(blob("x", "FP32", [size], 4 * size),
                                  parameters={"binary_data_output": True})).encode()
        data = post("/v2/models/twice/infer", text + floats([1.5] * size),
                    f"{server_process.JSON_BYTES}: {len(text)}")
        with self.connection.makefile("rb") as stream:
            for _ in range(2):
                self.connection.sendall(data)
                status, _, body = read_response(stream)
                self.assertEqual((status, body[-4 * size:]), (200, floats([3.0] * size)))
            self.connection.sendall(LIVE * 100)
            for _ in range(100):
                self.assertEqual(read_response(stream)[0], 200)

    def test_a_body_that_is_not_read(self):
        with self.connection.makefile("rb") as stream:
            raw_http.send_all(self.connection, post("/v2", bytes(17 << 20))[:1 << 18])
            status, headers, _ = read_response(stream)
            self.assertEqual((status, headers["connection"]), (413, "close"))
            self.assertIsNone(read_response(stream))

    def test_generation(self):
        sent = request(tensor("token", "INT64", [1], [1]), tensor("sum", "INT64", [1], [0]),
                       parameters={"steps": 100})
        with self.connection.makefile("rb") as stream:
            self.connection.sendall(
                post("/v2/models/counter/generate_stream", json.dumps(sent).encode()))
            status, _, body = read_response(stream)
        self.assertEqual((status, body.count(b"data: ")), (200, 100))

    def test_a_client_that_leaves(self):
        left = self.server.metrics()["scopevm_http_clients_left_total"]
        for end in (end_of_tls, ssl.SSLSocket.close, raw_http.reset,
                    lambda connection: connection.shutdown(socket.SHUT_WR)):
            connection = self.connect()
            connection.sendall(post("/v2/models/slow/infer", json.dumps(counted(LONG)).encode()))
            wait_until(lambda: self.pending() == 1, "it runs")
            end(connection)
            wait_until(lambda: self.pending() == 0, "it ends")
            connection.close()
        self.assertEqual(self.server.metrics()["scopevm_http_clients_left_total"], left + 4)

    def failed_handshakes(self):
        return self.server.metrics()["scopevm_http_handshakes_failed_total"]

    def test_broken_handshakes(self):
        seeded = random.Random(3)
        hello, output = ssl.MemoryBIO(), ssl.MemoryBIO()
        with self.assertRaises(ssl.SSLWantReadError):
            self.context.wrap_bio(hello, output, server_hostname="127.0.0.1").do_handshake()
        hello = output.read()
        failed = self.failed_handshakes()
        idle = []
        for number in range(300):
            connection = self.server.socket()
            data = bytearray(hello[:seeded.randint(0, len(hello))])
            if number % 3 == 0 and data:
                data[seeded.randrange(len(data))] ^= 1 << seeded.randrange(8)
            raw_http.send_all(connection, (data, LIVE, seeded.randbytes(300))[number % 3])
            if number % 5 == 0:
                raw_http.reset(connection)
            else:
                idle.append(connection)
        for value in range(20):
            self.assertEqual(infer(self.server, self.context, value), 2 * value)
        for connection in idle:
            connection.close()
        wait_until(lambda: self.connections() <= 1, "the connections end")
        self.assertEqual(self.failed_handshakes() - failed, 300)

    def test_abandoned_requests(self):
        seeded = random.Random(4)
        data = post("/v2/models/twice/infer", json.dumps(scaled(1)).encode())
        for _ in range(100):
            connection = connect(self.server, self.context)
            connection.sendall(data[:seeded.randint(0, len(data))])
            raw_http.reset(connection) if seeded.random() < 0.5 else connection.close()
        wait_until(lambda: self.connections() <= 1, "the connections end")
        self.assertEqual(self.server.metrics()["scopevm_http_body_bytes_in_flight"], 0)

    def test_gRPC(self):
        client = rpc_client(self.server, self.authority)
        self.addCleanup(client.close)
        self.assertEqual(rpc_infer(client, 2), floats([4]))
        plain = RpcClient(self.server.grpc, PATIENCE)
        self.addCleanup(plain.close)
        with self.assertRaises(grpc.RpcError) as caught:
            rpc_infer(plain, 2)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)


class CertificatesTest(server_process.unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.models = self.folder / "models"
        server_process.compiler.add(self.models, "twice", models.scaled(2))
        self.authority = Authority(self.folder, "authority")
        self.certificate, self.key = self.authority.issue("first")
        self.options = ("--tls-cert", self.certificate, "--tls-key", self.key,
                        "--grpc", "127.0.0.1:0")

    def replace(self, certificate, key):
        shutil.copy(certificate, self.certificate)
        shutil.copy(key, self.key)

    def test_reload(self):
        second, other = self.authority.issue("second"), self.authority.issue("other")
        context = context_for(self.authority)

        def name():
            with connect(server, context) as connection:
                return name_of(connection)

        def rpc_name():
            host, port = server.grpc.rsplit(":", 1)
            protocols = context_for(self.authority, protocols=("h2",))
            with protocols.wrap_socket(socket.create_connection((host, int(port))),
                                       server_hostname=host) as connection:
                return name_of(connection)
        with running(self.models, *self.options) as server:
            before = connect(server, context)
            self.assertEqual(name_of(before), "first")
            self.replace(*second)
            server.signal(signal.SIGHUP)
            wait_until(lambda: name() == "second", "the new certificate is used")
            self.assertEqual(rpc_name(), "second")
            # A connection keeps its certificate.
            before.sendall(LIVE)
            with before, before.makefile("rb") as stream:
                self.assertEqual(read_response(stream)[0], 200)
            # Files that do not match leave the certificate unchanged.
            self.replace(other[0], second[1])
            server.signal(signal.SIGHUP)
            message = f"{self.key}: the key is not that of the certificate in {self.certificate}"
            wait_until(lambda: message in server.messages(), "the failure is reported")
            self.assertEqual((name(), rpc_name()), ("second", "second"))
            client = rpc_client(server, self.authority)
            self.assertEqual(rpc_infer(client, 2), floats([4]))
            client.close()
            self.replace(*other)
            server.signal(signal.SIGHUP)
            wait_until(lambda: name() == "other", "the third certificate is used")

    def test_certificates_of_clients(self):
        stranger = Authority(self.folder, "stranger")
        clients = Authority(self.folder, "clients")
        known, unknown = clients.issue("client"), stranger.issue("client2")
        options = (*self.options, "--tls-client-ca", clients.certificate)
        with running(self.models, *options) as server:
            self.assertEqual(infer(server, context_for(self.authority, known), 3), 6)
            for certificate in (None, unknown):
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    infer(server, context_for(self.authority, certificate), 3)
            client = rpc_client(server, self.authority, known)
            self.assertEqual(rpc_infer(client, 2), floats([4]))
            client.close()
            client = rpc_client(server, self.authority)
            with self.assertRaises(grpc.RpcError):
                rpc_infer(client, 2)
            client.close()

    def test_unix_sockets_are_without_tls(self):
        path = self.folder / "socket"
        options = (*self.options[:-1], f"unix:{self.folder}/rpc")
        with running(self.models, *options, addresses=(f"unix:{path}", "none")) as server:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
                connection.sendall(LIVE)
                with connection.makefile("rb") as stream:
                    self.assertEqual(read_response(stream)[0], 200)
            client = RpcClient(server.grpc, PATIENCE)
            self.assertEqual(rpc_infer(client, 2), floats([4]))
            client.close()

    def test_wrong_files(self):
        _, other_key = self.authority.issue("other")
        text, locked = self.folder / "text", self.folder / "locked"
        text.write_text("text")
        subprocess.run(["openssl", "ec", "-in", self.key, "-aes128", "-passout", "pass:secret",
                        "-out", locked], check=True, capture_output=True)
        cut = self.folder / "cut"
        cut.write_text(self.certificate.read_text() + self.certificate.read_text()[:100])
        weak = self.folder / "weak.crt", self.folder / "weak.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:1024", "-noenc", "-subj",
                        "/CN=a", "-out", weak[0], "-keyout", weak[1]], check=True, capture_output=True)
        for options, message in (
                (("none", self.key), "none: "),
                ((self.certificate, "none"), "none: "),
                ((text, self.key), f"{text}: expected certificates in PEM format"),
                ((cut, self.key), f"{cut}: expected certificates in PEM format"),
                (weak, f"{weak[0]}: OpenSSL rejects the certificate: .*key too small"),
                ((self.certificate, text),
                 ": expected a private key in PEM format without a password"),
                ((self.certificate, locked), f"{locked}: expected a private key"),
                ((self.certificate, other_key), "the key is not that of the certificate in ")):
            with self.assertRaisesRegex(AssertionError, message):
                server_process.Server(self.models, "--tls-cert", options[0], "--tls-key",
                                      options[1])
        checked = subprocess.run(
            [server_process.compiler.programs / "scopevm", "serve", self.models, "--check",
             "--tls-cert", self.certificate, "--tls-key", other_key],
            capture_output=True, text=True)
        self.assertEqual(checked.returncode, 1, checked.stderr)
        self.assertIn("the key is not that of the certificate in", checked.stderr)
        for options in (("--tls-cert", self.certificate), ("--tls-key", self.key),
                        ("--tls-client-ca", self.certificate)):
            with self.assertRaisesRegex(AssertionError, "requires --tls"):
                server_process.Server(self.models, *options)
        with self.assertRaisesRegex(AssertionError, f"{text}: expected certificates"):
            server_process.Server(self.models, *self.options, "--tls-client-ca", text)


if __name__ == "__main__":
    server_process.main()
