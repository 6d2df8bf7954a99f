"""Runs a model step by step, with NumPy, scopevm or ONNX Runtime. Each runner has

    run(feeds)   arrays by input name -> arrays by output name
    close()      ends the runner's process, if it has one
"""
import json
import os
import pathlib
import subprocess

import numpy as np

from numpy_spelling import NumpySpelling

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Runner:
    def close(self):
        pass


class Numpy(Runner):
    def __init__(self, network, sizes, weights):
        self.network, self.sizes, self.weights = network, sizes, weights

    def run(self, feeds):
        spelling = NumpySpelling(self.sizes, self.weights, feeds)
        self.network(spelling, self.sizes)
        return spelling.results


class Failure(Exception):
    """Why a runner has not computed the results."""


def _write(folder, feeds):
    """Files by input name."""
    files = {name: folder / f"input_{i}.npy" for i, name in enumerate(feeds)}
    for name, file in files.items():
        np.save(file, feeds[name])
    return files


# Open MPI as root, with more ranks than CPUs.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
       "OMPI_MCA_plm_rsh_agent": "true", "OMPI_MCA_mpi_yield_when_idle": "1"}
JOB_SECONDS = 60


class Scopevm(Runner):
    """Compiles the model when it is created. With `processes`, mpirun runs it."""

    def __init__(self, programs, model, outputs, options=(), processes=0):
        self.scopevm, self.outputs = programs / "scopevm", outputs
        self.folder = model.parent
        self.module = model.with_name("".join([model.stem, *options]) + ".bc")
        self.launcher = ["timeout", "-k", "5", str(JOB_SECONDS), "mpirun", "-n",
                         str(processes)] if processes else []
        self._call("compile", model, "-o", self.module, *options)

    def _call(self, *words, launcher=()):
        done = subprocess.run([*launcher, self.scopevm, *words], capture_output=True, text=True,
                              env={**os.environ, **MPI})
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            raise Failure(lines[0] if lines else f"exit code {done.returncode}")
        return done.stdout

    def data_dependent_results(self):
        """Those whose dims are not formulas over the dims of inputs, as `scopevm inspect` prints
        them."""
        lines = self._call("inspect", self.module).splitlines()
        return [line.strip() for line in lines if line.startswith("  output") and "$" in line]

    def run(self, feeds, words=()):
        words = [*words, *[f"--input={name}={file}"
                           for name, file in _write(self.folder, feeds).items()]]
        files = {name: self.folder / f"output_{i}.npy" for i, name in enumerate(self.outputs)}
        words += [f"--output={name}={file}" for name, file in files.items()]
        self._call("run", self.module, *words, launcher=self.launcher)
        return {name: np.load(file) for name, file in files.items()}


    def run_stream(self, feeds, split, grown, words):
        """Splits the inputs `split` along axis 1 into steps of 1, and adds an element of the inputs
        `grown` in each step. Results have an axis in front with the steps."""
        return self.run(feeds, [*[f"--steps={name}=1" for name in split],
                                *[f"--steps={name}=1:+1" for name in grown], *words])


class OnnxRuntime(Runner):
    def __init__(self, model, outputs):
        self.folder, self.outputs = model.parent, outputs
        self.process = subprocess.Popen(
            ["node", ROOT / "tools/compare/steps.mjs", model], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=os.environ)
        self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line or json.loads(line):
            raise Failure(json.loads(line) if line else "ONNX Runtime ended")

    def run(self, feeds):
        files = {name: self.folder / f"output_{i}.npy" for i, name in enumerate(self.outputs)}
        request = {"inputs": _write(self.folder, feeds), "outputs": files}
        self.process.stdin.write(json.dumps(request, default=str) + "\n")
        self.process.stdin.flush()
        self._answer()
        return {name: np.load(file) for name, file in files.items()}

    def close(self):
        self.process.stdin.close()
        self.process.wait()
