"""Networks of language models, as calls of a spelling: each spelling writes the layers with other
operators, and NumpySpelling computes them. The layers of the networks are in this file alone.

A spelling has the methods of Primitive (primitive.py) and attributes of its network, such as
`heads`.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Sizes:
    layers: int = 2
    width: int = 64
    heads: int = 4
    groups: int = 2  # heads of keys and values
    inner: int = 96
    vocabulary: int = 80
    positions: int = 32
    classes: int = 10
    features: int = 16  # of a frame of sound
    patch: int = 8
    image: int = 32
    experts: int = 4
    experts_per_token: int = 2

    @property
    def head_width(self):
        return self.width // self.heads


def _llama(s, sizes, qkv_bias, feed_forward):
    value = s.embedding("embed_tokens", s.ids(), sizes.vocabulary)
    normal = s.rms_norm(value, "layers.0.input_norm")
    for layer in range(sizes.layers):
        name = f"layers.{layer}"
        kv_width = sizes.groups * sizes.head_width
        query = s.linear(normal, f"{name}.q", sizes.width, sizes.width, qkv_bias)
        key = s.linear(normal, f"{name}.k", sizes.width, kv_width, qkv_bias)
        content = s.linear(normal, f"{name}.v", sizes.width, kv_width, qkv_bias)
        context = s.rotary_attention(query, key, content, layer)
        attended = s.linear(context, f"{name}.o", sizes.width, sizes.width)
        normal, value = s.skip_rms_norm(value, attended, f"{name}.post_norm")
        fed = feed_forward(s, sizes, normal, name)
        following = f"layers.{layer + 1}.input_norm" if layer + 1 < sizes.layers else "norm"
        normal, value = s.skip_rms_norm(value, fed, following)
    s.result("logits", s.linear(normal, "lm_head", sizes.width, sizes.vocabulary), "batch",
             "length", sizes.vocabulary)


def _gated(s, sizes, value, name):
    gate = s.linear(value, f"{name}.gate", sizes.width, sizes.inner)
    up = s.linear(value, f"{name}.up", sizes.width, sizes.inner)
    return s.linear(s.mul(s.silu(gate), up), f"{name}.down", sizes.inner, sizes.width)


def _mixture(s, sizes, value, name):
    scores = s.linear(value, f"{name}.router", sizes.width, sizes.experts)
    return s.mixture(value, scores, name)


def llama(s, sizes):
    _llama(s, sizes, False, _gated)


def qwen(s, sizes):
    """Llama with biases of queries, keys and values."""
    _llama(s, sizes, True, _gated)


def mixture(s, sizes):
    """Llama with a mixture of experts: each token has the weighted sum of its best experts."""
    _llama(s, sizes, False, _mixture)


def gpt2(s, sizes):
    value = s.add(s.embedding("wte", s.ids(), sizes.vocabulary),
                  s.embedding("wpe", s.position_ids(), sizes.positions))
    normal = s.layer_norm(value, "h.0.ln_1")
    for layer in range(sizes.layers):
        name = f"h.{layer}"
        context = s.packed_attention(normal, f"{name}.c_attn", layer)
        attended = s.linear(context, f"{name}.c_proj", sizes.width, sizes.width, True)
        normal, value = s.skip_layer_norm(value, attended, f"{name}.ln_2")
        inner = s.gelu_tanh(s.linear(normal, f"{name}.c_fc", sizes.width, sizes.inner, True))
        fed = s.linear(inner, f"{name}.mlp_proj", sizes.inner, sizes.width, True)
        following = f"h.{layer + 1}.ln_1" if layer + 1 < sizes.layers else "ln_f"
        normal, value = s.skip_layer_norm(value, fed, following)
    s.result("logits", s.linear(normal, "lm_head", sizes.width, sizes.vocabulary), "batch",
             "length", sizes.vocabulary)


def _feed_forward(s, sizes, value, name):
    inner = s.gelu(s.linear(value, f"{name}.fc1", sizes.width, sizes.inner, True))
    return s.linear(inner, f"{name}.fc2", sizes.inner, sizes.width, True)


def _encoder_layers(s, sizes, value, last):
    normal = s.layer_norm(value, "layers.0.norm1")
    for layer in range(sizes.layers):
        name = f"layers.{layer}"
        attended = s.linear(s.self_attention(normal, name), f"{name}.o", sizes.width, sizes.width,
                            True)
        normal, value = s.skip_layer_norm(value, attended, f"{name}.norm2")
        fed = _feed_forward(s, sizes, normal, name)
        following = f"layers.{layer + 1}.norm1" if layer + 1 < sizes.layers else last
        normal, value = s.skip_layer_norm(value, fed, following)
    return normal


def whisper_encoder(s, sizes):
    """Two convolutions over frames of sound, the second with stride 2, and layers of attention."""
    value = s.gelu(s.convolution(s.features(), "conv1", sizes.features, [3], [1], [1, 1]))
    value = s.gelu(s.convolution(value, "conv2", sizes.width, [3], [2], [1, 1]))
    value = s.add_positions(s.transpose(value, [0, 2, 1]), "embed_positions")
    value = _encoder_layers(s, sizes, value, "layer_norm")
    s.result("last_hidden_state", value, "batch", "states", sizes.width)


def whisper_decoder(s, sizes):
    """Layers of causal attention with caches and of attention over the states of the encoder."""
    value = s.add(s.embedding("embed_tokens", s.ids(), sizes.vocabulary),
                  s.embedding("embed_positions", s.position_ids(), sizes.positions))
    states = s.states()
    normal = s.layer_norm(value, "layers.0.norm1")
    for layer in range(sizes.layers):
        name = f"layers.{layer}"
        project = lambda part, of, bias: s.linear(of, f"{name}.{part}", sizes.width, sizes.width,
                                                  bias)
        context = s.causal_attention(project("q", normal, True), project("k", normal, False),
                                     project("v", normal, True), layer)
        normal, value = s.skip_layer_norm(value, project("o", context, True), f"{name}.norm2")
        context = s.attention_over(project("cross_q", normal, True),
                                   project("cross_k", states, False),
                                   project("cross_v", states, True))
        normal, value = s.skip_layer_norm(value, project("cross_o", context, True),
                                          f"{name}.norm3")
        fed = _feed_forward(s, sizes, normal, name)
        following = f"layers.{layer + 1}.norm1" if layer + 1 < sizes.layers else "layer_norm"
        normal, value = s.skip_layer_norm(value, fed, following)
    s.result("logits", s.linear(normal, "proj_out", sizes.width, sizes.vocabulary), "batch",
             "length", sizes.vocabulary)


def bert(s, sizes):
    """The norm follows the sum of an attention and its input. An attention mask hides padding."""
    value = s.embed_norm("embeddings")
    for layer in range(sizes.layers):
        name = f"layers.{layer}"
        attended = s.linear(s.self_attention(value, name, masked=True), f"{name}.o", sizes.width,
                            sizes.width, True)
        value, _ = s.skip_layer_norm(value, attended, f"{name}.norm1")
        value, _ = s.skip_layer_norm(value, _feed_forward(s, sizes, value, name), f"{name}.norm2")
    s.result("logits", value, "batch", "length", sizes.width)


def vit(s, sizes):
    """Patches of an image and a class token, and layers of attention."""
    side = [sizes.patch] * 2
    patches = s.convolution(s.pixels(), "patches", 3, side, side, [0] * 4)
    value = s.with_class_token(s.transpose(s.flatten_patches(patches), [0, 2, 1]))
    value = _encoder_layers(s, sizes, s.add_positions(value, "positions"), "norm")
    s.result("class_logits", s.linear(s.first_row(value), "head", sizes.width, sizes.classes, True),
             "batch", sizes.classes)
