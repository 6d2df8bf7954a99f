"""Computes a network with NumPy in float64."""
import math

import numpy as np


class NumpySpelling:
    """`feeds` has the inputs of the model by name; results are stored in `results`."""
    is_packed = False

    def __init__(self, sizes, weights, feeds):
        self.sizes, self.weights, self.feeds = sizes, weights, feeds
        self.results = {}

    def ids(self):
        return self.feeds["input_ids"]

    def position_ids(self):
        return self.feeds["position_ids"]

    def embedding(self, name, ids, rows):
        return self.weights.normal(f"{name}.weight", (rows, self.sizes.width), 0.7)[ids].astype(
            np.float64)

    def linear(self, value, name, fan_in, fan_out, bias=False):
        product = value @ self.weights.matrix(f"{name}.weight", fan_in, fan_out).astype(np.float64)
        return product + self.weights.bias(f"{name}.bias", fan_out) if bias else product

    def rms_norm(self, value, name):
        scale = self.weights.scale(f"{name}.weight", self.sizes.width)
        return value / np.sqrt((value ** 2).mean(-1, keepdims=True) + 1e-5) * scale

    def skip_rms_norm(self, value, other, name):
        return self.rms_norm(value + other, name), value + other

    def layer_norm(self, value, name):
        centred = value - value.mean(-1, keepdims=True)
        normal = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)
        return (normal * self.weights.scale(f"{name}.weight", self.sizes.width) +
                self.weights.bias(f"{name}.bias", self.sizes.width))

    def skip_layer_norm(self, value, other, name):
        return self.layer_norm(value + other, name), value + other

    def add(self, a, b):
        return a + b

    def mul(self, a, b):
        return a * b

    def silu(self, value):
        return value / (1 + np.exp(-value))

    def gelu_tanh(self, value):
        inner = np.sqrt(2 / np.pi) * (value + 0.044715 * value ** 3)
        return 0.5 * value * (1 + np.tanh(inner))

    def _heads(self, value, count):
        return value.reshape(*value.shape[:2], count, -1).transpose(0, 2, 1, 3)

    def _rotate(self, heads):
        half = self.sizes.head_width // 2
        frequencies = 10000.0 ** (-np.arange(half) / half)
        angles = (self.position_ids()[:, :, None] * frequencies)[:, None]
        low, high = heads[..., :half], heads[..., half:]
        return np.concatenate([low * np.cos(angles) - high * np.sin(angles),
                               high * np.cos(angles) + low * np.sin(angles)], axis=-1)

    def rotary_attention(self, query, key, content, layer):
        query = self._rotate(self._heads(query, self.sizes.heads))
        key = self._rotate(self._heads(key, self.sizes.groups))
        return self._attend(query, key, self._heads(content, self.sizes.groups), layer)

    def packed_attention(self, value, name, layer):
        width = self.sizes.width
        parts = np.split(self.linear(value, name, width, 3 * width, True), 3, axis=2)
        return self._attend(*[self._heads(part, self.sizes.heads) for part in parts], layer)

    def _attend(self, query, key, content, layer):
        key = np.concatenate([self.feeds[f"past_key_values.{layer}.key"], key], axis=2)
        content = np.concatenate([self.feeds[f"past_key_values.{layer}.value"], content], axis=2)
        self.results[f"present.{layer}.key"] = key
        self.results[f"present.{layer}.value"] = content
        repeats = query.shape[1] // key.shape[1]
        key, content = np.repeat(key, repeats, axis=1), np.repeat(content, repeats, axis=1)
        length, total = query.shape[2], key.shape[2]
        allowed = np.arange(total) <= np.arange(total - length, total)[:, None]
        allowed = allowed & self._unpadded()
        return self._scores(query, key, content, allowed)

    def _unpadded(self):
        return (self.feeds["attention_mask"] != 0)[:, None, None]

    def _scores(self, query, key, content, allowed):
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(query.shape[3])
        scores = np.where(allowed, scores, -1e30)  # finite for rows of padding
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        context = (weights / weights.sum(-1, keepdims=True)) @ content
        return context.transpose(0, 2, 1, 3).reshape(*context.shape[::2], -1)

    def causal_attention(self, query, key, content, layer):
        parts = (query, key, content)
        return self._attend(*[self._heads(part, self.sizes.heads) for part in parts], layer)

    def attention_over(self, query, key, content, allowed=True):
        parts = (query, key, content)
        return self._scores(*[self._heads(part, self.sizes.heads) for part in parts], allowed)

    def self_attention(self, value, name, masked=False):
        width = self.sizes.width
        parts = [self.linear(value, f"{name}.{part}", width, width, True) for part in "qkv"]
        return self.attention_over(*parts, self._unpadded() if masked else True)

    def mixture(self, value, scores, name):
        sizes = self.sizes
        best = np.argsort(-scores, axis=-1)[..., :sizes.experts_per_token]
        shares = np.exp(np.take_along_axis(scores, best, -1))
        shares /= shares.sum(-1, keepdims=True)
        total = 0
        for expert in range(sizes.experts):
            first = self.linear(value, f"{name}.experts.{expert}.up", sizes.width, sizes.inner)
            second = self.linear(self.silu(first), f"{name}.experts.{expert}.down", sizes.inner,
                                 sizes.width)
            total = total + second * (shares * (best == expert)).sum(-1, keepdims=True)
        return total

    def states(self):
        return self.feeds["encoder_hidden_states"]

    def features(self):
        return self.feeds["input_features"]

    def pixels(self):
        return self.feeds["pixel_values"]

    def gelu(self, value):
        return 0.5 * value * (1 + np.vectorize(math.erf)(value / np.sqrt(2)))

    def transpose(self, value, perm):
        return value.transpose(perm)

    def convolution(self, value, name, channels, kernel, strides, pads):
        axes = len(kernel)
        filters = self.weights.filters(f"{name}.weight", self.sizes.width, channels, kernel)
        value = np.pad(value, [(0, 0)] * 2 + list(zip(pads[:axes], pads[axes:])))
        windows = np.lib.stride_tricks.sliding_window_view(value, kernel, tuple(range(2, 2 + axes)))
        windows = windows[(slice(None),) * 2 + tuple(slice(None, None, s) for s in strides)]
        pixels, taps = "xy"[:axes], "uv"[:axes]
        result = np.einsum(f"bc{pixels}{taps},oc{taps}->bo{pixels}", windows,
                           filters.astype(np.float64))
        return result + self.weights.bias(f"{name}.bias", self.sizes.width).reshape(
            -1, *[1] * axes)

    def add_positions(self, value, name):
        rows = np.arange(value.shape[1])
        return value + self.embedding(name, rows, self.sizes.positions)

    def embed_norm(self, name):
        value = self.embedding(f"{name}.words", self.ids(), self.sizes.vocabulary)
        value = value + self.embedding(f"{name}.types", self.feeds["token_type_ids"], 2)
        return self.layer_norm(self.add_positions(value, f"{name}.positions"), f"{name}.norm")

    def flatten_patches(self, value):
        return value.reshape(*value.shape[:2], -1)

    def with_class_token(self, value):
        token = self.weights.normal("class_token", (1, 1, self.sizes.width), 0.7)
        return np.concatenate([np.broadcast_to(token, (len(value), *token.shape[1:])), value], 1)

    def first_row(self, value):
        return value[:, 0]

    def result(self, name, value, *dims):
        self.results[name] = value
