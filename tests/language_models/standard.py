"""The spelling of opset 24: Attention, RMSNormalization, RotaryEmbedding and TensorScatter."""
import numpy as np

from graph import BOOL, FLOAT
from fused import Fused
from primitive import Primitive


class Standard(Primitive):
    """Attention concatenates past keys and values."""

    def __init__(self, sizes, weights):
        super().__init__(sizes, weights, opset=24)

    def rms_norm(self, value, name):
        return self.op("RMSNormalization", value, self.scale(name), epsilon=1e-5)

    layer_norm = Fused.layer_norm

    def gelu_tanh(self, value):
        return self.op("Gelu", value, approximate="tanh")

    def gelu(self, value):
        return self.op("Gelu", value)

    def silu(self, value):
        return self.op("Swish", value)

    tables = Fused.tables

    def rotate(self, value, count):
        tables = self.once("tables", self.tables)
        return self.op("RotaryEmbedding", value, *tables, self.position_ids(), num_heads=count)

    def rotary_attention(self, query, key, content, layer):
        sizes = self.sizes
        return self.attention(self.rotate(query, sizes.heads), self.rotate(key, sizes.groups),
                              content, layer, sizes.groups)

    def packed_attention(self, value, name, layer):
        sizes = self.sizes
        joined = self.linear(value, name, sizes.width, 3 * sizes.width, True)
        parts = self.op("Split", joined, axis=2, outputs=3, num_outputs=3)
        return self.attention(*parts, layer, sizes.heads)

    def causal_attention(self, query, key, content, layer):
        return self.attention(query, key, content, layer, self.sizes.heads)

    def attention_over(self, query, key, content, mask=""):
        return self.op("Attention", query, key, content, mask, q_num_heads=self.sizes.heads,
                       kv_num_heads=self.sizes.heads)

    def padding_scores(self):
        return self.rows_of(self.padding_mask())

    def mask(self):
        return self.rows_of(self.attention_mask())

    def rows_of(self, mask):
        """ONNX Runtime requires a row for each query."""
        mask, ids = self.op("Cast", mask, to=BOOL), self.ids()
        mask = self.op("Unsqueeze", mask, self.integers(1, 2))
        return self.op("Expand", mask, self.shape(1, 1, self.dim(ids, 1), 1))

    def attention(self, query, key, content, layer, groups):
        mask = self.once("mask", self.mask)
        result, present_key, present_value = self.op(
            "Attention", query, key, content, mask, self.past(layer, "key", groups),
            self.past(layer, "value", groups), outputs=3, q_num_heads=self.sizes.heads,
            kv_num_heads=groups, is_causal=1)
        self.present(layer, "key", groups, present_key)
        self.present(layer, "value", groups, present_value)
        return result


class Scatter(Standard):
    """Keys and values are written into caches of a fixed length, at the position of their token."""
    concatenates_caches = False
    is_packed = True

    def __init__(self, sizes, weights):
        super().__init__(sizes, weights)
        self.cache_length = sizes.positions

    def past(self, layer, part, groups):
        return self.input(f"past_key_values.{layer}.{part}", FLOAT, "batch", groups,
                          self.sizes.positions, self.sizes.head_width)

    def present(self, layer, part, groups, value):
        self.output(f"present.{layer}.{part}", value, "batch", groups, self.sizes.positions,
                    self.sizes.head_width)

    def mask(self):
        """A query reads the keys at its position and at earlier ones."""
        columns = np.arange(self.sizes.positions)[None, None, None]
        rows = self.op("Unsqueeze", self.position_ids(), self.integers(1, 3))
        return self.op("LessOrEqual", columns, rows)

    def first(self):
        return self.op("Gather", self.position_ids(), np.int64(0), axis=1)

    def attention(self, query, key, content, layer, groups):
        mask, first = self.once("mask", self.mask), self.once("first", self.first)
        caches = []
        for part, value in (("key", key), ("value", content)):
            cache = self.op("TensorScatter", self.past(layer, part, groups),
                            self.heads(value, groups), first, axis=2)
            self.present(layer, part, groups, cache)
            caches.append(cache)
        result = self.over_caches(self.heads(query, self.sizes.heads), caches, mask)
        result = self.op("Transpose", result, perm=[0, 2, 1, 3])
        return self.reshape(result, self.dim(result, 0), self.dim(result, 1), self.sizes.width)

    def over_caches(self, query, caches, mask):
        return self.op("Attention", query, *caches, mask)


class Lengths(Scatter):
    """The valid length of each cache is an operand instead of a mask."""

    def mask(self):
        last = self.op("Gather", self.position_ids(), np.int64(-1), axis=1)
        return self.op("Add", last, np.int64(1))

    def over_caches(self, query, caches, mask):
        return self.op("Attention", query, *caches, "", "", "", mask, is_causal=1)
