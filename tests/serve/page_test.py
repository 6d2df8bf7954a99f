#!/usr/bin/env python3
"""The status page in a browser, and its JSON."""

import re
import shutil
import subprocess
import sys
import tempfile

import models
import server_process
from server_process import PATIENCE, ServerTest, request, tensor

CHROMIUM = shutil.which("chromium")
STRANGE = "<b>&quot;"  # a name of a model that must not become a part of the page


class PageTest(ServerTest):

    OPTIONS = ("--capacity", "cpu.global=1MiB")

    @classmethod
    def setUpModels(cls, folder):
        server_process.compiler.add(folder, "sum", models.SUM)
        server_process.compiler.add(folder, STRANGE, models.PAIR)
        (folder / "broken" / "1").mkdir(parents=True)
        (folder / "broken" / "1" / "module.bc").write_bytes(b"none")

    def infer(self, count):
        values = tensor("x", "FP32", [1, 2], [1, 2]), tensor("h", "FP32", [1, 2], [3, 4])
        for _ in range(count):
            self.ok(self.client.infer("sum", request(*values)))

    def dom(self):
        """The page after its scripts have read the status again."""
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
                 f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--dump-dom",
                 f"http://{self.server.http}/"],
                capture_output=True, text=True, timeout=10 * PATIENCE, check=True)
        return re.sub(r"<script.*?</script>", "", done.stdout, flags=re.S)

    def test_page(self):
        self.infer(3)
        count = self.server.statistics("sum")["inference_count"]
        before = self.server.metrics()["scopevm_http_requests_total"]
        page = self.dom()
        self.assertIn("Ready.", page)
        self.assertIn(f'<td>sum/1</td><td>ready</td><td class="number">{count}</td>', page)
        # The page, its icon, and the status at least once.
        self.assertGreater(self.server.metrics()["scopevm_http_requests_total"] - before, 2)
        self.assertIn('<td>cpu.global</td><td class="number">1 MiB</td>', page)
        self.assertIn("<td>&lt;b&gt;&amp;quot;/1</td>", page)
        self.assertIn("not ready: ", page)
        self.assertEqual(page.count("<svg"), 2)

    def test_json(self):
        before = self.client.get("/status.json").json
        self.infer(2)
        after = self.client.get("/status.json").json
        def of(status, name):
            return next(model for model in status["models"] if model["name"] == name)
        counts = [sum(of(status, "sum")["latency"]) for status in (before, after)]
        self.assertEqual(counts[1] - counts[0], 2)
        self.assertTrue(after["is_ready"])
        self.assertNotIn("statistics", of(after, "broken"))
        self.assertEqual(after["scheduler"]["pools"][0]["capacity"], 1 << 20)
        peak = {pool["name"]: pool["peak"] for pool in of(after, "sum")["pools"]}
        self.assertEqual(peak["cpu.global"], 16)
        self.assertEqual(self.client.request("POST", "/status.json").status, 405)


if __name__ == "__main__":
    if CHROMIUM is None:
        sys.exit(77)
    server_process.main()
