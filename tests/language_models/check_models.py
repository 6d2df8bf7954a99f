#!/usr/bin/python3
"""Compares spellings of small language models, and scopevm with NumPy and ONNX Runtime.

    check_models.py PROGRAMS [--onnx-runtime] [--folder FOLDER] [--split SPLIT [--mpi]] [NAME...]

PROGRAMS is the folder of the program scopevm. NAME selects models and spellings: `llama` or
`llama.fused`. SPLIT is that of `scopevm compile`: one process runs all ranks, or with --mpi a
process of MPI each. A model has the same weights in all spellings. Every runner carries its own
caches from step to step. Prints a line for each spelling and phase:

    NumPy         largest difference of scopevm's results and those of NumPy in float64
    ONNX Runtime  largest difference of scopevm's results and ONNX Runtime's
    one rank      largest difference of the results with and without --split

A difference is relative to the larger of 1 and the largest result. Rows of padding are not
compared. Exit code 1: a runner fails, a difference from NumPy or one rank exceeds 1e-5, or one from
ONNX Runtime 1e-4, a pipeline has other results than one rank, or results have data-dependent dims.
"""
import argparse
import math
import pathlib
import sys
import tempfile

import numpy as np

import networks
import runners
import scenarios
from fused import Fused, FusedRotary, FusedShared
from merged import Merged
from optimum import Optimum
from primitive import Primitive
from standard import Lengths, Scatter, Standard
from weights import Weights

MODELS = {"llama": (networks.llama, None), "qwen": (networks.qwen, None),
          "llama_q4": (networks.llama, 4), "llama_q8": (networks.llama, 8),
          "gpt2": (networks.gpt2, None), "mixture": (networks.mixture, None),
          "whisper_encoder": (networks.whisper_encoder, None),
          "whisper_decoder": (networks.whisper_decoder, None), "bert": (networks.bert, None),
          "vit": (networks.vit, None)}
FULL_HEADS = (networks.gpt2, networks.whisper_decoder)  # each head has its own keys and values
ENCODERS = ("whisper_encoder", "bert", "vit")
SPELLINGS = {"primitive": Primitive, "optimum": Optimum, "merged": Merged, "fused": Fused,
             "fused_rotary": FusedRotary, "fused_shared": FusedShared, "standard": Standard,
             "scatter": Scatter, "lengths": Lengths}
DECODERS_ONLY = ("merged", "scatter", "lengths")
ROTARY = ("llama", "llama_q4", "llama_q8", "qwen", "mixture")
LIMITS = {"NumPy": 1e-5, "ONNX Runtime": 1e-4, "one rank": 1e-5}


def selected(names):
    for model in MODELS:
        for spelling in SPELLINGS:
            has_spelling = (model in ROTARY if spelling.startswith("fused_") else
                            model not in ENCODERS or spelling not in DECODERS_ONLY)
            if has_spelling and (not names or model in names or f"{model}.{spelling}" in names):
                yield model, spelling


def ranks_of(split):
    """tensor=2,pipeline=3 -> 6"""
    return math.prod(int(part.partition("=")[2]) for part in split.split(","))


def difference(step, expected, actual, per_token):
    if expected.shape != actual.shape:
        raise runners.Failure(f"shape {actual.shape}, expected {expected.shape}")
    if per_token:
        expected, actual = expected[step.is_token()], actual[step.is_token()]
    error = np.abs(actual - expected).max() / max(1, np.abs(expected).max())
    return float("inf") if np.isnan(error) else float(error)


class Spelled:
    """A model in one spelling, with its runners."""

    def __init__(self, model, spelling, folder, options):
        self.programs = options.programs
        self.split = [f"--split={options.split}"] if options.split else []
        self.processes = ranks_of(options.split) if options.mpi else 0
        self.network, bits = MODELS[model]
        self.sizes = networks.Sizes()
        self.weights = Weights(bits)
        self.written = SPELLINGS[spelling](self.sizes, self.weights)
        self.written.write(self.network)
        folder.mkdir(parents=True, exist_ok=True)
        file = self.file = folder / "model.onnx"
        file.write_bytes(self.written.model(f"{model}_{spelling}"))
        outputs = self.written.output_names
        self.result = next(name for name in outputs if not name.startswith("present"))
        self.runners = {"NumPy": runners.Numpy(self.network, self.sizes, self.weights),
                        "scopevm": runners.Scopevm(options.programs, file, outputs, self.split,
                                                   self.processes)}
        unexpected = self.runners["scopevm"].data_dependent_results()
        if unexpected and not self.written.has_data_dependent_results:
            raise runners.Failure(f"data-dependent dims: {unexpected[0]}")
        if options.onnx_runtime:
            self.runners["ONNX Runtime"] = runners.OnnxRuntime(file, outputs)
        if options.split:
            self.runners["one rank"] = runners.Scopevm(options.programs, file, outputs)

    def close(self):
        for runner in self.runners.values():
            runner.close()

    def requests(self, is_encoder):
        vocabulary = self.sizes.vocabulary
        if is_encoder:
            return scenarios.encoder_scenarios(vocabulary)
        appended = [] if self.written.is_packed else scenarios.appended_scenarios(vocabulary)
        return scenarios.decoder_scenarios(vocabulary) + appended

    def pasts(self, runner, batch):
        sizes = self.sizes
        groups = sizes.heads if self.network in FULL_HEADS else sizes.groups
        length = 0 if runner == "NumPy" else self.written.cache_length
        return {f"past_key_values.{layer}.{part}": (batch, groups, length, sizes.head_width)
                for layer in range(sizes.layers) for part in ("key", "value")}

    def run_streams(self):
        """Yields a phase and the difference from NumPy if each call has one token, and the caches
        are the state of a stream. None if the model has no caches, or if a mask does not grow with
        them."""
        inputs = self.written.input_names
        names = [name for name in inputs if name.startswith("past_key_values")]
        has_mask = "attention_mask" in inputs
        if not names or (has_mask and self.written.cache_length):
            return
        prefill = scenarios.decoder_scenarios(self.sizes.vocabulary)[0][0]
        pasts = self.pasts("NumPy", 1)
        feeds = {**scenarios.State(1, False).feeds(prefill, pasts),
                 **scenarios.media(1, self.sizes)}
        expected = self.runners["NumPy"].run(feeds)[self.result]
        # Merged decoders have caches in all steps but the first one, where they are empty here.
        feeds["use_cache_branch"] = np.array([True])
        given = {name: feeds[name] for name in inputs if name not in names}
        split = [name for name in ("input_ids", "position_ids") if name in inputs]
        def difference_of(runner, words):
            actual = runner.run_stream(given, split, ["attention_mask"] * has_mask,
                                       words)[self.result]
            return difference(prefill, expected, actual[:, :, 0].swapaxes(0, 1), True)

        states = "--state=past_key_values.*=present.*"
        yield "stream", difference_of(self.runners["scopevm"], [states])
        if self.written.concatenates_caches:
            in_place = runners.Scopevm(self.programs, self.file, [self.result],
                                       [states, *self.split], self.processes)
            yield "in place", difference_of(in_place, ["past_capacity=20"])

    def run(self, steps):
        """Yields a phase and the differences by runner."""
        batch = len(steps[0].lengths)
        media = scenarios.media(batch, self.sizes)
        states = {name: scenarios.State(batch, name != "NumPy" and self.written.is_packed)
                  for name in self.runners}
        for step in steps:
            results = {}
            for name, runner in self.runners.items():
                feeds = {**states[name].feeds(step, self.pasts(name, batch)), **media}
                if name != "NumPy":
                    feeds = {key: feeds[key] for key in self.written.input_names}
                results[name] = runner.run(feeds)
                states[name].results = results[name]
            yield step.phase, {name: difference(step, results[name][self.result],
                                                results["scopevm"][self.result],
                                                self.result == "logits")
                               for name in results if name != "scopevm"}


def worst_differences(model, spelling, folder, options):
    """Pairs of a phase and the largest differences by runner."""
    spelled = Spelled(model, spelling, folder, options)
    worst = {}
    try:
        for steps in spelled.requests(model in ENCODERS):
            for phase, errors in spelled.run(steps):
                row = worst.setdefault(phase, errors)
                row.update({name: max(row[name], error) for name, error in errors.items()})
        for phase, error in spelled.run_streams():
            worst[phase] = {"NumPy": error}
    finally:
        spelled.close()
    return worst.items()


def check(model, spelling, folder, options):
    """Prints the differences of each phase. Returns whether they are within the limits."""
    title, good = f"{model}.{spelling}", True
    limits = dict(LIMITS)
    if options.split and "tensor" not in options.split:
        limits["one rank"] = 0
    try:
        for phase, errors in worst_differences(model, spelling, folder / title, options):
            print(f"{title:28}{phase:16}" + "".join(f"{errors[name]:14.1e}" for name in errors))
            good &= all(error <= limits[name] for name, error in errors.items())
    except runners.Failure as failure:
        print(f"{title:28}{failure}")
        good = False
    sys.stdout.flush()
    return good


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip().splitlines()[2].strip())
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--onnx-runtime", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--split")
    parser.add_argument("--mpi", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    if options.mpi and not options.split:
        parser.error("--mpi needs --split")
    columns = (["NumPy"] + ["ONNX Runtime"] * options.onnx_runtime
               + ["one rank"] * bool(options.split))
    print(f"{'model':28}{'phase':16}" + "".join(f"{column:>14}" for column in columns))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        outcomes = [check(*name, folder, options) for name in selected(options.names)]
    if not outcomes:
        sys.exit(f"no model has one of the names {' '.join(options.names)}")
    sys.exit(not all(outcomes))


if __name__ == "__main__":
    main()
