#!/usr/bin/env python3
"""The folder of models: versions, configurations, ONNX models, replacement, polling and keys."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest
import unittest.mock
import urllib.parse

import models
import server_process
from server_process import request, running, tensor, wait_until

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples/digits/digits.onnx"


def of_value(value):
    return request(tensor("x", "FP32", [1], [value]))


class RepositoryTest(unittest.TestCase):

    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder, self.models = folder, folder / "models"
        self.models.mkdir()

    def add(self, name, factor, version=1):
        server_process.compiler.add(self.models, name, models.scaled(factor), version=version)

    def config(self, name, **members):
        path = self.models / name / "config.json"
        path.write_text(json.dumps(members))

    def start(self, *options):
        server = self.enterContext(running(self.models, *options))
        self.client = server.client()
        self.addCleanup(self.client.close)
        return server

    def factor(self, model):
        answer = self.client.infer(model, of_value(1))
        self.assertEqual(answer.status, 200, answer.text)
        return answer.data("y")[0]

    def error(self, model):
        answer = self.client.infer(model, of_value(1))
        self.assertEqual(answer.status, 400)
        return answer.json["error"]

    def change(self, model, action, status=200):
        path = f"/v2/repository/models/{urllib.parse.quote(model, safe='')}/{action}"
        answer = self.client.request("POST", path)
        self.assertEqual(answer.status, status, answer.text)
        return answer.json

    def index(self):
        return self.client.request("POST", "/v2/repository/index").json

    def index_of(self, model):
        return [entry for entry in self.index() if entry["name"] == model]

    def test_versions(self):
        for version in (1, 2, 10):
            for name in ("latest", "two", "all", "some"):
                self.add(name, version, version)
        self.config("two", versions=2)
        self.config("all", versions="all")
        self.config("some", versions=[1, 2])
        for ignored in ("latest/0", "latest/x3", "latest/-1", ".hidden/1", "empty"):
            (self.models / ignored).mkdir(parents=True)
        self.start()
        expected = {"all": ["1", "2", "10"], "latest": ["10"], "some": ["1", "2"],
                    "two": ["2", "10"]}
        for name, versions in expected.items():
            self.assertEqual(self.client.get(f"/v2/models/{name}").json["versions"], versions)
            self.assertEqual(self.factor(name), int(versions[-1]))
            for version in versions:
                self.assertEqual(self.factor(f"{name}/versions/{version}"), int(version))
        self.assertEqual(self.index(), [
            {"name": name, "version": version, "state": "READY", "reason": ""}
            for name, versions in expected.items() for version in versions])
        stats = self.client.get("/v2/models/stats").json["model_stats"]
        self.assertEqual(len(stats), 8)
        self.assertEqual(sum(entry["inference_count"] for entry in stats), 12)

    def test_a_folder_and_a_file_with_the_same_name(self):
        for name in ("a", "b", "c"):
            self.add(name, 2, version=1)
            (self.models / f"{name}.bc").write_bytes(
                server_process.compiler.compiled(models.scaled(3)))
        (self.models / "d").mkdir()
        (self.models / "d.bc").write_bytes(server_process.compiler.compiled(models.scaled(3)))
        self.start()
        self.assertEqual([self.factor(name) for name in "abcd"], [2, 2, 2, 3])

    def test_config(self):
        self.add("m", 2)
        self.config("m", versions=1, priority=-1, timeout_ms=5000, max_requests=7,
                    data_budgets={"global": "1MiB"}, warm_up=[{"n": 4}, {"n": 1}],
                    compile=["--threads=1"], sequences={"idle_timeout_ms": 10, "max": 2})
        self.start()
        self.assertEqual(self.factor("m"), 2)
        for members, message in (
                ({"version": 1}, 'unknown member "version"'),
                ({"versions": 0}, '"versions": expected an integer from 1 to 1000, given 0'),
                ({"versions": []}, '"versions": expected at least one version'),
                ({"versions": [0]}, '"versions": expected an integer from 1 to '),
                ({"versions": [9]}, 'config.json: "versions": there is no version 9'),
                ({"priority": 2**64 - 1}, '"priority": expected an integer from -1000 to 1000'),
                ({"priority": 1.0}, '"priority": expected an integer from -1000 to 1000'),
                ({"timeout_ms": "5"}, '"timeout_ms": expected an integer from 1 to '),
                ({"max_requests": 0}, '"max_requests": expected an integer from 1 to 1000000'),
                ({"data_budgets": []}, "expected an object of sizes by memory scope"),
                ({"data_budgets": {"global": 1}}, '"data_budgets": expected a string, given 1'),
                ({"data_budgets": {"global": "1XiB"}}, '"data_budgets": '),
                ({"warm_up": {}}, "expected an array of objects with the values of dims"),
                ({"warm_up": [1]}, '"warm_up": expected objects with the values of dims'),
                ({"warm_up": [{"n": -1}]}, '"warm_up": expected an integer from 0 to '),
                ({"warm_up": [{"n": 0}]}, 'config.json: "warm_up"'),
                ({"warm_up": [{"m": 1}]}, 'config.json: "warm_up"'),
                ({"compile": "--tune"}, '"compile": expected an array of strings'),
                ({"compile": [1]}, '"compile": expected a string, given 1'),
                ({"sequences": 1}, '"sequences": expected an object'),
                ({"sequences": {"states": []}}, '"states": expected an object of outputs by input'),
                ({"sequences": {"states": {"h": "y"}}},
                 'config.json: "states": the module has no input "h"'),
                ({"sequences": {"states": {"x": "h"}}},
                 'config.json: "states": the module has no output "h"'),
                ({"sequences": {"dims": 1}}, '"dims": expected objects with the values of dims'),
                ({"sequences": {"max": 0}}, '"max": expected an integer from 1 to 1000000')):
            self.config("m", **members)
            self.assertIn(message, self.change("m", "load", 400)["error"])
            self.assertEqual(self.factor("m"), 2)  # the old version stays
        for text in ("", "{", "[]", "1", '{"priority":1,}', "\xff"):
            (self.models / "m" / "config.json").write_text(text, encoding="latin-1")
            self.assertIn("config.json: ", self.change("m", "load", 400)["error"])
        self.config("m")
        self.change("m", "load")
        self.assertEqual(self.index_of("m")[0]["reason"], "")

    def test_load_and_unload(self):
        self.add("m", 2)
        self.start()
        self.change("m", "unload")
        self.assertEqual(self.error("m"), 'model "m" is not ready: unloaded')
        self.assertEqual(self.client.get("/v2/models/m/ready").status, 404)
        self.assertEqual(self.index(),
                         [{"name": "m", "state": "UNAVAILABLE", "reason": "unloaded"}])
        self.assertIn('model "m" is not loaded', self.change("m", "unload", 400)["error"])
        self.change("m", "load")
        self.add("new", 5)
        self.assertIn("the repository has no model", self.change("other", "load", 400)["error"])
        self.change("new", "load")
        self.assertEqual((self.factor("m"), self.factor("new")), (2, 5))
        for name in (".m", "../models", ""):
            self.assertIn("expected the name of a model", self.change(name, "load", 400)["error"])

    def test_failed_loads_keep_the_old_version(self):
        self.add("m", 2)
        (self.models / "wrong.bc").write_bytes(b"not a module")
        self.start()
        self.assertEqual(self.index_of("wrong")[0]["state"], "UNAVAILABLE")
        self.assertIn('model "wrong" is not ready: ', self.error("wrong"))
        module = self.models / "m/1/module.bc"
        good = self.folder / "good.bc"
        os.rename(module, good)
        for content in (b"", b"x", good.read_bytes()[:-1], good.read_bytes() + b"x"):
            module.write_bytes(content)
            self.change("m", "load", 400)
            self.assertEqual(self.factor("m"), 2)
            entry = self.index_of("m")[0]
            self.assertEqual(entry["state"], "READY")
            self.assertNotEqual(entry["reason"], "")
            module.unlink()
        os.rename(good, module)  # the file that is loaded
        self.change("m", "load")
        self.assertEqual(self.index_of("m")[0]["reason"], "")
        self.add("m", 3, version=2)
        self.change("m", "load")
        self.assertEqual(self.factor("m"), 3)

    def test_replacement_under_load(self):
        self.add("m", 1)
        server = self.start()
        wrong, is_over = [], threading.Event()

        def ask():
            client = server.client()
            while not is_over.is_set():
                answer = client.infer("m", of_value(1))
                if answer.status != 200 or answer.data("y")[0] not in (1, 2, 3):
                    wrong.append(answer.text)
            client.close()
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for factor in (2, 3, 1, 2, 3, 1, 2, 3):
            self.add("m", factor)
            self.change("m", "load")
            self.assertEqual(self.factor("m"), factor)
        is_over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_polling(self):
        self.add("m", 2)
        self.add("gone", 2)
        self.start("--poll", 1)
        self.add("m", 3)
        self.add("new", 4)
        shutil.rmtree(self.models / "gone")
        wait_until(lambda: self.factor("m") == 3, "the replaced file is loaded")
        wait_until(lambda: self.client.get("/v2/models/new/ready").status == 200,
                   "the new model is loaded")
        wait_until(lambda: not self.index_of("gone"), "the other model is unloaded")
        self.change("new", "unload")
        self.add("new", 5)
        self.add("m", 6)
        wait_until(lambda: self.factor("m") == 6, "the replaced file is loaded")
        self.assertEqual(self.index_of("new")[0]["reason"], "unloaded")

    def test_sighup(self):
        self.add("m", 2)
        server = self.start()
        self.add("m", 3)
        server.signal(signal.SIGHUP)
        wait_until(lambda: self.factor("m") == 3, "the replaced file is loaded")

    def test_names(self):
        names = ["a b", "\u4e16\u754c", 'q"uo\\te', "100%", "x?y#z", "stats2", "a+b", "a=b,c"]
        for name in names:
            path = self.models / (name + ".bc")
            path.write_bytes(server_process.compiler.compiled(models.scaled(7)))
        raw = os.path.join(os.fsencode(self.models), b"\xff\xfe.bc")
        pathlib.Path(os.fsdecode(raw)).write_bytes(
            server_process.compiler.compiled(models.scaled(8)))
        server = self.start()
        for name in names:
            quoted = urllib.parse.quote(name, safe="")
            self.assertEqual(self.factor(quoted), 7)
            self.assertEqual(self.client.get(f"/v2/models/{quoted}").json["name"], name)
            self.change(name, "unload")
            self.change(name, "load")
        self.assertEqual(self.factor("%ff%FE"), 8)
        self.assertEqual(len(self.index()), len(names) + 1)
        self.assertEqual(self.client.get("/v2/models/..%2f..%2fetc/ready").status, 404)
        self.assertIn('scopevm_requests_in_flight{model="q\\"uo\\\\te/1"}', server.metrics())

    def test_onnx_models(self):
        shutil.copy(DIGITS, self.models / "digits.onnx")
        (self.models / "other/1").mkdir(parents=True)
        shutil.copy(DIGITS, self.models / "other/1/model.onnx")
        self.config("other", compile=["--inline-limit", "0"])
        (self.models / "broken.onnx").write_bytes(b"\x08\x01")
        cache, stored = self.folder / "cache", []
        for _ in range(2):
            with running(self.models, "--cache", cache) as server:
                client = server.client()
                entries = client.request("POST", "/v2/repository/index").json
                self.assertEqual([entry["state"] for entry in entries],
                                 ["UNAVAILABLE", "READY", "READY"])
                self.assertIn("broken.onnx", entries[0]["reason"])
                found = client.get("/v2/models/digits").json["inputs"][0]
                shape = [1 if dim == -1 else dim for dim in found["shape"]]
                count = 1
                for dim in shape:
                    count *= dim
                one = request(tensor(found["name"], found["datatype"], shape, [0] * count))
                self.assertEqual(client.infer("digits", one).status, 200)
                client.close()
            stored.append(sorted((path, path.stat().st_ino) for path in cache.rglob("*")))
        self.assertNotEqual(stored[0], [])
        self.assertEqual(stored[0], stored[1])  # the second server compiled nothing
        self.config("other", compile=["--no-such-option"])
        self.start("--cache", cache)
        self.assertIn("--no-such-option", self.change("other", "load", 400)["error"])

    def test_end_during_a_load(self):
        """The server ends before it has loaded all models."""
        for version in range(1, 41):
            (self.models / f"m/{version}").mkdir(parents=True)
            (self.models / f"m/{version}/model.onnx").symlink_to(DIGITS)
        self.config("m", versions="all")
        with running(self.models, waits=False) as server:
            wait_until(lambda: "loaded" in server.messages(), "the first version is loaded")
            self.assertEqual(server.stop(), 0)
            if server.messages().count("loaded") < 40:
                self.assertIn("scopevm serve: m: the server ends", server.messages())

    def test_end_during_a_compilation(self):
        """The compiler, which waits for a pipe without a writer, ends with the server."""
        (self.models / "digits/1").mkdir(parents=True)
        shutil.copy(DIGITS, self.models / "digits/1/model.onnx")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.config("digits", compile=["--machine", str(pipe)])

        def compilers():
            tasks = pathlib.Path(f"/proc/{server.process.pid}/task")
            return "".join(path.read_text() for path in tasks.glob("*/children")).split()
        for number in (signal.SIGTERM, signal.SIGINT):
            with running(self.models, waits=False) as server:
                wait_until(compilers, "the compiler runs")
                compiler = pathlib.Path("/proc", compilers()[0])
                server.signal(number)
                self.assertEqual(server.process.wait(server_process.PATIENCE), 0)
                self.assertFalse(compiler.exists())
                self.assertIn("scopevm serve: digits/1: the server ends", server.messages())

    def test_no_folder_for_temporary_files(self):
        shutil.copy(DIGITS, self.models / "digits.onnx")
        with unittest.mock.patch.dict(os.environ, TMPDIR=str(self.folder / "none")):
            self.start()
        self.assertIn("no folder for temporary files", self.index()[0]["reason"])

    def test_signed_modules(self):
        compiler = server_process.compiler
        for key in ("a", "b"):
            compiler.run("sign", "--new-key", self.folder / key)
        for name in ("by_a", "by_b", "unsigned"):
            (self.models / f"{name}.bc").write_bytes(compiler.compiled(models.scaled(2)))
        compiler.run("sign", self.models / "by_a.bc", "--key", self.folder / "a.key")
        compiler.run("sign", self.models / "by_b.bc", "--key", self.folder / "b.key")
        shutil.copy(DIGITS, self.models / "digits.onnx")
        for keys, ready in (("a", ["by_a"]), ("ab", ["by_a", "by_b"])):
            options = [part for key in keys for part in ("--key", self.folder / f"{key}.pub")]
            with running(self.models, *options) as server:
                client = server.client()
                entries = client.request("POST", "/v2/repository/index").json
                client.close()
                self.assertEqual([entry["name"] for entry in entries if entry["state"] == "READY"],
                                 ready)
                reasons = {entry["name"]: entry["reason"] for entry in entries}
                self.assertIn(": expected a signed module, because keys are given",
                              reasons["digits"])

    def test_check(self):
        def check(*options):
            program = server_process.compiler.programs / "scopevm"
            return subprocess.run([program, "serve", self.models, "--check", *options],
                                  capture_output=True, text=True, check=False)
        server_process.compiler.add(self.models, "m", models.scaled(2), "--dim", "n<=1024")
        done = check("--capacity", "cpu.global=1MiB")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("m/1\n", done.stdout)
        self.assertRegex(done.stdout, r"cpu.global: largest request .*, at the same time: \d+\n")
        done = check("--capacity", "cpu.global=1KiB")
        self.assertEqual(done.returncode, 3)
        self.assertIn("a model does not fit in the capacities", done.stderr)
        (self.models / "wrong.bc").write_bytes(b"")
        done = check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("wrong", done.stderr)
        self.models /= "none"
        self.assertIn("No such file or directory", check().stderr)


if __name__ == "__main__":
    server_process.main()
