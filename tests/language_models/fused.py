"""The spelling of onnxruntime-genai and ONNX Runtime's optimizer: operators of com.microsoft."""
import numpy as np

from graph import FLOAT, INT32, MICROSOFT
from primitive import Primitive
from weights import BLOCK


class Fused(Primitive):
    def __init__(self, sizes, weights):
        super().__init__(sizes, weights, opset=21)

    def fused(self, kind, *operands, **attributes):
        return self.op(kind, *operands, domain=MICROSOFT, **attributes)

    def linear(self, value, name, fan_in, fan_out, bias=False):
        self.weights.matrix(f"{name}.weight", fan_in, fan_out)
        if f"{name}.weight" not in self.weights.quantised:
            return super().linear(value, name, fan_in, fan_out, bias)
        levels, scales = self.weights.quantised[f"{name}.weight"]
        if self.weights.bits == 4:  # the low half first
            levels = levels[..., ::2] | levels[..., 1::2] << 4
        product = self.fused("MatMulNBits", value, self.weight(f"{name}.levels", levels),
                             self.weight(f"{name}.scales", scales), K=fan_in, N=fan_out,
                             bits=self.weights.bits, block_size=BLOCK)
        return self.add(product, self.bias(name, fan_out)) if bias else product

    def rms_norm(self, value, name):
        # ONNX Runtime defines this operator in the standard domain.
        return self.op("SimplifiedLayerNormalization", value, self.scale(name), axis=-1,
                       epsilon=1e-5, stash_type=1)

    def skip_rms_norm(self, value, other, name):
        return self.fused("SkipSimplifiedLayerNormalization", value, other, self.scale(name),
                          into=[f"{name}.normal", "", "", f"{name}.sum"],
                          epsilon=1e-5)[::3]

    def layer_norm(self, value, name):
        return self.op("LayerNormalization", value, self.scale(name),
                       self.bias(name, self.sizes.width), epsilon=1e-5)

    def skip_layer_norm(self, value, other, name):
        return self.fused("SkipLayerNormalization", value, other, self.scale(name),
                          self.bias(name, self.sizes.width),
                          into=[f"{name}.normal", "", "", f"{name}.sum"], epsilon=1e-5)[::3]

    def gelu_tanh(self, value):
        return self.fused("FastGelu", value)

    def gelu(self, value):
        return self.fused("Gelu", value)

    def embed_norm(self, name):
        """The operator has ids of 32 bits."""
        ids, types = [self.op("Cast", value, to=INT32)
                      for value in (self.ids(), self.token_types())]
        sizes = self.sizes
        tables = [self.table(f"{name}.{part}", rows) for part, rows in
                  (("words", sizes.vocabulary), ("positions", sizes.positions), ("types", 2))]
        return self.fused("EmbedLayerNormalization", ids, types, *tables,
                          self.scale(f"{name}.norm"), self.bias(f"{name}.norm", sizes.width),
                          into=[f"{name}.normal", f"{name}.lengths"], epsilon=1e-5)[0]

    def padding_scores(self):
        return self.op("Cast", self.padding_mask(), to=INT32)

    def self_attention(self, value, name, masked=False):
        width = self.sizes.width
        matrices = [self.weights.matrix(f"{name}.{part}.weight", width, width) for part in "qkv"]
        biases = [self.weights.bias(f"{name}.{part}.bias", width) for part in "qkv"]
        mask = self.once("padding_scores", self.padding_scores) if masked else ""
        return self.fused(
            "Attention", value, self.weight(f"{name}.qkv.weight", np.concatenate(matrices, axis=1)),
            self.weight(f"{name}.qkv.bias", np.concatenate(biases)), mask,
            num_heads=self.sizes.heads)

    def attention_over(self, query, key, content):
        return self.fused("MultiHeadAttention", query, key, content, num_heads=self.sizes.heads)

    def causal_attention(self, query, key, content, layer):
        heads = self.sizes.heads
        past = [self.past(layer, part, heads) for part in ("key", "value")]
        mask = self.once("mask", lambda: self.op("Cast", self.attention_mask(), to=INT32))
        result, *present = self.fused(
            "MultiHeadAttention", query, key, content, "", mask, "", *past,
            into=[f"attention.{layer}", f"attention.{layer}.key", f"attention.{layer}.value"],
            num_heads=heads, unidirectional=1, mask_filter_value=-3.4e38)
        for part, value in zip(("key", "value"), present):
            self.present(layer, part, heads, value)
        return result

    def lengths(self):
        """The length of each sequence less 1, and the longest one."""
        mask = self.attention_mask()
        lengths = self.op("ReduceSum", mask, self.integers(1), keepdims=0)
        lengths = self.op("Sub", lengths, self.integers(1))
        return (self.op("Cast", lengths, to=INT32),
                self.op("Cast", self.dim(mask, 1), to=INT32))

    def tables(self):
        """The cosine and sine of the angles at each position, [positions, head_width / 2]."""
        half = self.sizes.head_width // 2
        angles = np.arange(self.sizes.positions)[:, None] * 10000.0 ** (-np.arange(half) / half)
        return [self.weight(name, function(angles).astype(np.float32))
                for name, function in (("cos_cache", np.cos), ("sin_cache", np.sin))]

    def rotary_attention(self, query, key, content, layer):
        sizes = self.sizes
        self.is_packed = True  # as GroupQueryAttention requires
        past = [self.past(layer, part, sizes.groups) for part in ("key", "value")]
        lengths = self.once("lengths", self.lengths)
        tables = self.once("tables", self.tables)
        results = [f"attention.{layer}", f"attention.{layer}.key", f"attention.{layer}.value"]
        self.group_attention(query, key, content, past, lengths, tables, results)
        for part, value in zip(("key", "value"), results[1:]):
            self.present(layer, part, sizes.groups, value)
        return results[0]

    def group_attention(self, query, key, content, past, lengths, tables, results):
        self.fused("GroupQueryAttention", query, key, content, *past, *lengths, *tables,
                   into=results, num_heads=self.sizes.heads, kv_num_heads=self.sizes.groups,
                   do_rotary=1)

    def packed_attention(self, value, name, layer):
        """The operator has one tensor of past keys and values."""
        sizes = self.sizes
        self.concatenates_caches = False
        past = [self.op("Unsqueeze", self.past(layer, part, sizes.heads), self.integers(0))
                for part in ("key", "value")]
        mask = self.once("mask", lambda: self.op("Cast", self.attention_mask(), to=INT32))
        matrix = self.weights.matrix(f"{name}.weight", sizes.width, 3 * sizes.width)
        result, present = self.fused(
            "Attention", value, self.weight(f"{name}.weight", matrix),
            self.bias(name, 3 * sizes.width), mask, self.op("Concat", *past, axis=0),
            into=[f"attention.{layer}", f"attention.{layer}.present"], num_heads=sizes.heads,
            unidirectional=1, mask_filter_value=-3.4e38)
        for i, part in enumerate(("key", "value")):
            self.present(layer, part, sizes.heads,
                         self.op("Gather", present, np.int64(i), axis=0))
        return result

    def mixture(self, value, scores, name):
        sizes = self.sizes
        weights = {part: np.stack([
            self.weights.matrix(f"{name}.experts.{expert}.{part}.weight", *fans).T
            for expert in range(sizes.experts)])
            for part, fans in (("up", (sizes.width, sizes.inner)),
                               ("down", (sizes.inner, sizes.width)))}
        return self.fused(
            "MoE", value, self.reshape(scores, -1, sizes.experts),
            self.weight(f"{name}.up", weights["up"]), "",
            self.weight(f"{name}.down", weights["down"]), activation_type="silu",
            k=sizes.experts_per_token, normalize_routing_weights=1)


class FusedRotary(Fused):
    """Rotary embeddings are operators of their own, at the positions of an input."""

    def group_attention(self, query, key, content, past, lengths, tables, results):
        query, key = [
            self.fused("RotaryEmbedding", value, self.position_ids(), *tables, num_heads=heads,
                       rotary_embedding_dim=0)
            for value, heads in ((query, self.sizes.heads), (key, self.sizes.groups))]
        self.fused("GroupQueryAttention", query, key, content, *past, *lengths, into=results,
                   num_heads=self.sizes.heads, kv_num_heads=self.sizes.groups, do_rotary=0)


class FusedShared(Fused):
    """Past and present keys and values have the same fixed length."""

    def __init__(self, sizes, weights):
        super().__init__(sizes, weights)
        self.cache_length = sizes.positions

    def past(self, layer, part, groups):
        return self.input(f"past_key_values.{layer}.{part}", FLOAT, "batch", groups, "max_length",
                          self.sizes.head_width)

    def present(self, layer, part, groups, value):
        self.output(f"present.{layer}.{part}", value, "batch", groups, "max_length",
                    self.sizes.head_width)
