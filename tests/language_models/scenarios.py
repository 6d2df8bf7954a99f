"""The requests of a decoder: prefill, decode and chunks of a prompt, for one sequence and for a
batch of sequences with different lengths.

A step has the new tokens of each sequence. Those of shorter sequences are padded on the right.
"""
import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Step:
    phase: str
    ids: np.ndarray      # [batch, length]
    lengths: np.ndarray  # [batch], the number of new tokens without padding


def _steps(seed, vocabulary, *phases):
    random = np.random.default_rng(seed)
    return [Step(phase, random.integers(0, vocabulary, (len(lengths), max(lengths))),
                 np.array(lengths)) for phase, lengths in phases]


def decoder_scenarios(vocabulary):
    return [
        _steps(1, vocabulary, ("prefill", [5]), ("decode", [1]), ("decode", [1]), ("chunk", [3]),
               ("decode", [1])),
        _steps(2, vocabulary, ("batch prefill", [5, 3, 1]), ("batch decode", [1, 1, 1]),
               ("batch decode", [1, 1, 1])),
    ]


def encoder_scenarios(vocabulary):
    return [_steps(3, vocabulary, ("single", [6])), _steps(4, vocabulary, ("batch", [6, 4, 1]))]


def media(batch, sizes):
    """Inputs that are no tokens, of a whole batch: equal in all steps."""
    random = np.random.default_rng(batch)
    shapes = {"encoder_hidden_states": (batch, 7, sizes.width),
              "input_features": (batch, sizes.features, 13),
              "pixel_values": (batch, 3, sizes.image, sizes.image)}
    return {name: random.standard_normal(shape).astype(np.float32)
            for name, shape in shapes.items()}


class State:
    """What a sequence of steps carries from one to the next for one runner.

    `is_packed` says where the caches have the rows of a sequence: one after the other, or with the
    padding of its steps.
    """

    def __init__(self, batch, is_packed):
        self.is_packed = is_packed
        self.known = np.zeros(batch, np.int64)
        self.seen = np.zeros((batch, 0), np.int64)
        self.results = {}

    def feeds(self, step, pasts):
        """`pasts` has the dims of the past values for the first step, by name."""
        columns = np.arange(step.ids.shape[1])
        new = (columns < step.lengths[:, None]).astype(np.int64)
        self.seen = np.concatenate([self.seen, new], axis=1)
        total = self.known + step.lengths
        packed = (np.arange(total.max()) < total[:, None]).astype(np.int64)
        feeds = {"input_ids": step.ids, "position_ids": self.known[:, None] + columns,
                 "token_type_ids": step.ids % 2,
                 "attention_mask": packed if self.is_packed else self.seen}
        for name, dims in pasts.items():
            present = name.replace("past_key_values", "present")
            feeds[name] = self.results.get(present, np.zeros(dims, np.float32))
        self.known = total
        return feeds
