#!/usr/bin/env python3
"""The description of the server in OpenAPI: it is valid, the server has the paths of the
description and no others, and responses have its form, also those of other tests."""

import re
import unittest

import jsonschema

import models
import openapi
import protocol_test
import sequences_test
import server_process
import wrong_requests_test
from server_process import ServerTest, request, tensor

DESCRIPTION = openapi.load()
LONG = 10**9  # iterations: about a minute
NAMES = {"model": "pair", "version": "1"}


def example(path):
    """A target of a path."""
    return re.sub(r"{(\w+)}", lambda found: NAMES[found[1]], path)


class Checked:
    """Replaces the client of a test by one that checks all requests and responses."""

    def setUp(self):
        super().setUp()
        self.seen = set()
        self.client = openapi.CheckedClient(self.server.http, DESCRIPTION, self.seen)
        self.addCleanup(self.client.close)


class ProtocolTest(Checked, protocol_test.ProtocolTest):
    pass


class WrongRequestsTest(Checked, wrong_requests_test.WrongRequestsTest):
    pass


class SequencesTest(Checked, sequences_test.SequencesTest):
    pass


class OpenApiTest(Checked, ServerTest):

    @classmethod
    def setUpModels(cls, folder):
        server_process.compiler.add(folder, "pair", models.PAIR)
        (folder / "pair/config.json").write_text('{"generate": {"feedback": {"a": "sum"}}}')
        server_process.compiler.add(folder, "slow", models.SLOW)
        (folder / "slow/config.json").write_text('{"max_requests": 1}')
        (folder / "broken/1").mkdir(parents=True)
        (folder / "broken/1/module.bc").write_bytes(b"none")

    def test_the_document(self):
        for schema in DESCRIPTION.document["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        names, used = set(), set()

        def visit(value):
            if isinstance(value, dict):
                if "$ref" in value:
                    used.add(value["$ref"])
                    DESCRIPTION.resolved(value)
                for member in value.values():
                    visit(member)
            elif isinstance(value, list):
                for element in value:
                    visit(element)
        visit(DESCRIPTION.document)
        for kind, members in DESCRIPTION.document["components"].items():
            names |= {f"#/components/{kind}/{name}" for name in members}
        self.assertEqual(used, names)
        ids = [operation["operationId"] for _, _, operation in DESCRIPTION.operations()]
        self.assertEqual(len(ids), len(set(ids)))
        for path, method, _ in DESCRIPTION.operations():
            given = {parameter["name"] for parameter in DESCRIPTION.parameters(path, method)
                     if parameter["in"] == "path"}
            self.assertEqual(given, set(re.findall(r"{(\w+)}", path)), path)

    def test_the_server_has_the_document(self):
        self.assertEqual(self.ok(self.client.get("/v2/openapi.json")).json, DESCRIPTION.document)

    def test_paths(self):
        """Each operation succeeds, and no other method."""
        sent = request(*(tensor(name, "FP32", [1, 3], [1, 2, 3]) for name in "ab"),
                       parameters={"steps": 2})
        for path, method, operation in DESCRIPTION.operations():
            if operation["operationId"] == "unload":
                continue  # below: the others need the model
            if "requestBody" in operation:
                self.ok(self.client.request("POST", example(path), server_process.json.dumps(sent)))
            else:
                self.ok(self.client.request(method.upper(), example(path)))
        for path in DESCRIPTION.document["paths"]:
            allowed = DESCRIPTION.methods(path)
            for method in {name.upper() for name in openapi.METHODS} - allowed:
                answer = self.client.request(method, example(path), b"")
                self.fails(answer, "expected the method", 405)
                self.assertEqual(answer.headers["allow"], ", ".join(sorted(allowed)))
            for target in (example(path).rstrip("/") + "/none", "/none" + example(path)):
                if DESCRIPTION.find(target) is None:
                    self.assertEqual(self.client.get(target).status, 404, target)
        for change in ("unload", "load"):
            self.ok(self.client.request("POST", f"/v2/repository/models/pair/{change}"))
        found = {(path, method) for path, method, status in self.seen if status == 200}
        self.assertEqual(found, {(path, method) for path, method, _ in DESCRIPTION.operations()})

    def test_errors(self):
        """Statuses of failed requests that the description has."""
        slow = {"count": tensor("count", "INT64", [], [LONG]), "x": tensor("x", "FP32", [1], [0]),
                "h": tensor("h", "FP32", [1], [0])}
        self.assertEqual(self.client.infer("slow", request(
            *slow.values(), parameters={"timeout": 1})).status, 504)
        self.assertEqual(self.client.infer("slow", request()).status, 400)
        self.assertEqual(self.client.get("/v2/models/slow/versions/2/ready").status, 404)
        self.assertEqual(self.client.get("/v2/models/broken").status, 400)
        for change in ("load", "unload"):
            self.fails(self.client.request("POST", f"/v2/repository/models/none/{change}"), "none")
        busy = self.server.client()
        self.addCleanup(busy.close)
        busy.connection.request("POST", "/v2/models/slow/infer",
                                server_process.json.dumps(request(*slow.values())))
        server_process.wait_until(
            lambda: self.server.statistics("slow")["pending_count"] == 1, "it runs")
        self.assertEqual(self.client.infer("slow", request(*slow.values())).status, 429)


if __name__ == "__main__":
    server_process.main()
