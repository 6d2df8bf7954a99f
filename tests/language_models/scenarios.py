"""The requests of a decoder: prefill, decode and chunks of a prompt, for one sequence and for a
batch of sequences with different lengths.

A step has the new tokens of each sequence. Those of shorter sequences are padded on the right or on
the left.
"""
import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Step:
    phase: str
    ids: np.ndarray      # [batch, length]
    lengths: np.ndarray  # [batch], the number of new tokens without padding
    is_left: bool = False  # the padding

    def is_token(self):
        """[batch, length], false for padding."""
        columns = np.arange(self.ids.shape[1])
        if self.is_left:
            columns = columns[::-1]
        return columns < self.lengths[:, None]


def _steps(seed, vocabulary, *phases, is_left=False):
    random = np.random.default_rng(seed)
    return [Step(phase, random.integers(0, vocabulary, (len(lengths), max(lengths))),
                 np.array(lengths), is_left) for phase, lengths in phases]


def decoder_scenarios(vocabulary):
    return [
        _steps(1, vocabulary, ("prefill", [5]), ("decode", [1]), ("decode", [1]), ("chunk", [3]),
               ("decode", [1])),
        _steps(2, vocabulary, ("batch prefill", [5, 3, 1]), ("batch decode", [1, 1, 1]),
               ("batch decode", [1, 1, 1])),
    ]


def appended_scenarios(vocabulary):
    """Those of models whose caches keep the padding."""
    return [
        _steps(5, vocabulary, ("left prefill", [2, 5, 3]), ("left decode", [1, 1, 1]),
               is_left=True),
        _steps(6, vocabulary, ("batch prefill", [4, 2]), ("batch chunk", [1, 3]),
               ("batch decode", [1, 1])),
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
        self.seen = np.concatenate([self.seen, step.is_token().astype(np.int64)], axis=1)
        length, total = step.ids.shape[1], self.known + step.lengths
        if self.is_packed:
            mask = (np.arange(total.max()) < total[:, None]).astype(np.int64)
            positions = self.known[:, None] + np.arange(length)
        else:
            mask = self.seen
            positions = np.maximum(mask.cumsum(axis=1) - 1, 0)[:, -length:]
        feeds = {"input_ids": step.ids, "position_ids": positions, "attention_mask": mask,
                 "token_type_ids": step.ids % 2,
                 # Merged decoders have a branch without past keys and values.
                 "use_cache_branch": np.array([bool(self.results)])}
        for name, dims in pasts.items():
            present = name.replace("past_key_values", "present")
            feeds[name] = self.results.get(present, np.zeros(dims, np.float32))
        self.known = total
        return feeds
