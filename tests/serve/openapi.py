"""The description of the server in OpenAPI, as a check of requests and responses."""

import json
import pathlib
import urllib.parse

import jsonschema

import server_process
from server_process import JSON_BYTES

FILE = pathlib.Path(__file__).resolve().parents[2] / "tools/serve/api/openapi.json"
METHODS = ("get", "post", "put", "delete", "patch", "options")
JSON, BINARY = "application/json", "application/octet-stream"


class Description:

    def __init__(self, document):
        self.document = document
        self.resolver = jsonschema.RefResolver.from_schema(document)
        self.validators = {}

    def resolved(self, value):
        return self.resolver.resolve(value["$ref"])[1] if "$ref" in value else value

    def operations(self):
        """(path, method, operation) of all."""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield path, method, item[method]

    def methods(self, path):
        return {method.upper() for method in METHODS if method in self.document["paths"][path]}

    def find(self, target):
        """The path of a target; None: there is none."""
        parts = target.split("?")[0].strip("/").split("/")
        def matches(path):
            expected = path.strip("/").split("/")
            return len(expected) == len(parts) and all(
                name.startswith("{") or name == part for name, part in zip(expected, parts))
        found = [path for path in self.document["paths"] if matches(path)]
        return min(found, key=lambda path: path.count("{"), default=None)

    def parameters(self, path, method):
        item = self.document["paths"][path]
        listed = item.get("parameters", []) + item[method.lower()].get("parameters", [])
        return [self.resolved(parameter) for parameter in listed]

    def errors(self, schema, value):
        """What is wrong with a value, as a list of texts."""
        key = id(schema)
        if key not in self.validators:
            self.validators[key] = jsonschema.Draft202012Validator(schema, resolver=self.resolver)
        return [f"{list(error.path)}: {error.message[:200]}"
                for error in self.validators[key].iter_errors(value)]

    def is_valid_infer(self, text):
        """Whether the JSON of a request has the form of the description."""
        try:
            value = json.loads(text)
        except ValueError:
            return False
        return not self.errors(self.document["components"]["schemas"]["InferRequest"], value)

    def check_response(self, path, method, answer):
        """Raises AssertionError if the response is not one of the operation's."""
        responses = self.document["paths"][path][method.lower()]["responses"]
        named = responses.get(str(answer.status))
        assert named or answer.status >= 400, f"unexpected status {answer.status}"
        response = self.resolved(named or responses["default"])
        kind = answer.headers["content-type"].split(";")[0]
        assert kind in response["content"], f"unexpected type {kind}"
        for name, header in response.get("headers", {}).items():
            value = answer.headers.get(name.lower())
            assert value is not None or not header.get("required"), f"no header {name}"
            if value is not None:
                errors = self.errors(header["schema"], json.loads(value))
                assert not errors, errors
        if kind == BINARY:
            schema = response["content"][JSON]["schema"]
            assert JSON_BYTES.lower() in answer.headers
        else:
            schema = response["content"][kind].get("schema", {})
        errors = self.errors(schema, answer.text if kind.startswith("text/") else answer.json)
        assert not errors, errors


class CheckedClient(server_process.Client):
    """Checks all that it sends and receives."""

    def __init__(self, address, description, seen):
        super().__init__(address)
        self.description, self.seen = description, seen

    def request(self, method, path, body=None, headers=None):
        headers = dict(headers or {})
        if body is not None:
            headers.setdefault("Content-Type", BINARY if JSON_BYTES in headers else JSON)
        answer = super().request(method, path, body, headers)
        found = self.description.find(path)
        place = f"{method} {path}: {answer.status} {answer.text[:200]}"
        try:
            self.check(found, method, body, headers, answer)
        except AssertionError as error:
            raise AssertionError(f"{place}: {error}") from None
        return answer

    def check(self, found, method, body, headers, answer):
        description = self.description
        if found is None:
            assert answer.status in (400, 404), "the description does not have the path"
            return
        allowed = description.methods(found)
        if method not in allowed:
            head = method == "HEAD" and "GET" in allowed
            assert head or answer.status == 405, "the description does not have the method"
            return
        description.check_response(found, method, answer)
        self.seen.add((found, method.lower(), answer.status))
        size = headers.get(JSON_BYTES)
        if found.endswith("/infer") and answer.status == 200 and size != "0":
            text = body[:int(size)] if size else body
            assert description.is_valid_infer(text), "the request does not have the form"


def load():
    return Description(json.loads(FILE.read_text()))


def quoted(name):
    return urllib.parse.quote(name, safe="")
