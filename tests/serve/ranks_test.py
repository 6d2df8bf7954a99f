#!/usr/bin/env python3
"""A server whose processes are the ranks of a job that mpirun has started."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import models
import server_process
from server_process import Server, request, tensor, wait_until

RANKS = 2
LAUNCHER = ("timeout", "--kill-after=1", "100", "mpirun", "-n", str(RANKS))
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_plm_rsh_agent": "true",
       "OMPI_MCA_mpi_yield_when_idle": "1"}

# y = relu(x * 2) * 3 with weights of 64 elements, whose columns and rows are divided.
LAYER = """
!x = !sv.tensor<f32[n, 4]>
!w = !sv.tensor<f32[4, 16]>
!h = !sv.tensor<f32[n, 16]>
!v = !sv.tensor<f32[16, 4]>
func.func @main(%x: !x {sv.name = "x"}) -> (!x {sv.name = "y"}) {
  %w = sv.constant {value = dense<2.0> : tensor<4x16xf32>} : !w
  %v = sv.constant {value = dense<3.0> : tensor<16x4xf32>} : !v
  %0 = sv.matmul %x, %w : (!x, !w) -> !h
  %1 = sv.relu %0 : (!h) -> !h
  %2 = sv.matmul %1, %v : (!h, !v) -> !x
  return %2 : !x
}
"""


def children(process):
    """The processes that a process has started, and that have not ended."""
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True,
                           check=False)
    return [pid for pid in map(int, found.stdout.split())
            if "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()]


class RanksTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        add = server_process.compiler.add
        add(self.folder, "layer", LAYER, "--split", f"tensor={RANKS}")
        add(self.folder, "quotient", models.QUOTIENT)
        self.server = Server(self.folder, launcher=LAUNCHER)
        self.addCleanup(self.server.kill)
        launcher, = children(self.server.process.pid)
        self.ranks = children(launcher)
        self.addCleanup(self.kill, [*self.ranks, launcher])
        self.assertEqual(len(self.ranks), RANKS)
        self.client = self.server.client()
        self.addCleanup(self.client.close)

    def kill(self, processes):
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def infer(self, client, value):
        answer = client.infer("layer", request(tensor("x", "FP32", [1, 4], [value] * 4)))
        self.assertEqual(answer.status, 200, answer.text)
        return answer.data("y")

    def expected(self, value):
        return [max(value * 2 * 4, 0) * 3 * 16] * 4

    def all_have_ended(self):
        return not any(pathlib.Path(f"/proc/{rank}/stat").exists() and
                       pathlib.Path(f"/proc/{rank}/stat").read_text().split(")")[-1].split()[0]
                       not in "ZX" for rank in self.ranks)

    def test_requests_of_several_clients(self):
        def ask(number):
            client = self.server.client()
            values = [self.infer(client, number + i) for i in range(20)]
            client.close()
            return values

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for number, values in enumerate(pool.map(ask, range(8))):
                self.assertEqual(values, [self.expected(number + i) for i in range(20)])
        self.assertEqual(self.server.statistics("layer")["inference_stats"]["success"]["count"], 160)

        # A model of one rank is not affected, nor are later requests by one that fails.
        answer = self.client.infer("quotient", request(tensor("x", "FP32", [1], [4])))
        self.assertEqual(answer.data("y"), [1])
        answer = self.client.infer("layer", request(tensor("x", "FP32", [1, 3], [1] * 3)))
        self.assertEqual(answer.status, 400, answer.text)
        self.assertEqual(self.infer(self.client, 5), self.expected(5))

    def test_models_are_replaced_one_after_the_other(self):
        load, unload = (f"/v2/repository/models/layer/{what}" for what in ("load", "unload"))
        for _ in range(3):
            self.assertEqual(self.client.request("POST", unload, "{}").status, 200)
            self.assertEqual(self.client.request("POST", load, "{}").status, 200)
            self.assertEqual(self.infer(self.client, 2), self.expected(2))
        server_process.compiler.add(self.folder, "second", LAYER, "--split", f"tensor={RANKS}")
        answer = self.client.request("POST", "/v2/repository/models/second/load", "{}")
        self.assertNotEqual(answer.status, 200)
        self.assertIn("another model, or another version, uses the ranks", answer.json["error"])
        self.assertEqual(self.infer(self.client, 3), self.expected(3))

    def test_sequences_with_caches_on_all_ranks(self):
        text = (pathlib.Path(__file__).parents[1] / "ranks/states.test.mlir").read_text()
        self.assertEqual(
            self.client.request("POST", "/v2/repository/models/layer/unload", "{}").status, 200)
        for name, split in (("cached", ("--split", f"tensor={RANKS}")), ("whole", ())):
            server_process.compiler.add(self.folder, name, text, "--dim", "past>=0", "--state",
                                        "past.*=present.*", *split)
            config = {"sequences": {"dims": {"past_capacity": 5}}}
            (self.folder / name / "config.json").write_text(json.dumps(config))
            answer = self.client.request("POST", f"/v2/repository/models/{name}/load", "{}")
            self.assertEqual(answer.status, 200, answer.text)
        for number in range(15):
            step, sequence = divmod(number, 3)
            sent = request(tensor("x", "FP32", [1, 8], [(number * 5 + i) % 7 - 3 for i in range(8)]),
                           parameters={"sequence_id": sequence + 1, "sequence_start": step == 0})
            cached, whole = (self.client.infer(name, sent) for name in ("cached", "whole"))
            self.assertEqual(cached.status, 200, cached.text)
            self.assertEqual(cached.data("y"), whole.data("y"))
        sent["outputs"] = [{"name": "present.k.rank1"}]
        sent["parameters"] = {"sequence_id": 4, "sequence_start": True}
        answer = self.client.infer("cached", sent)
        self.assertIn('output "present.k.rank1" is a state in memory of another rank', answer.json["error"])
        # The capacity of the cache.
        sent["parameters"] = {"sequence_id": 1}
        del sent["outputs"]
        self.assertEqual(self.client.infer("cached", sent).status, 400)

    def test_a_model_of_another_job(self):
        """It is refused, and the job goes on."""
        server_process.compiler.add(self.folder, "large", LAYER, "--split", "tensor=4")
        load, unload = (f"/v2/repository/models/layer/{what}" for what in ("load", "unload"))
        self.assertEqual(self.client.request("POST", unload, "{}").status, 200)
        answer = self.client.request("POST", "/v2/repository/models/large/load", "{}")
        self.assertIn("the module is for 4 ranks, the job has 2", answer.json["error"])
        self.assertEqual(self.client.request("POST", load, "{}").status, 200)
        self.assertEqual(self.infer(self.client, 3), self.expected(3))

    def test_ends_on_all_ranks(self):
        for rank in self.ranks:  # as a launcher does
            os.kill(rank, signal.SIGTERM)
        wait_until(self.all_have_ended, "all ranks have ended")

    def test_a_rank_that_ends_ends_the_job(self):
        self.infer(self.client, 1)
        os.kill(self.ranks[1], signal.SIGKILL)
        wait_until(self.all_have_ended, "all ranks have ended")


if __name__ == "__main__":
    programs = pathlib.Path(sys.argv[1])
    if not (programs.parent / "lib" / "libscopevm_mpi.so").exists():
        print("no plug-in for MPI")
        sys.exit(77)
    os.environ.update(MPI)
    server_process.main()
