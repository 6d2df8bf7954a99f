"""GPT-2 small: one decode step with a key-value cache. The batch, the new length and the past length
are dynamic.

The nodes are those of the PyTorch exporter. Conv1D is Reshape, Gemm and Reshape. The causal mask is
sliced from a constant triangle. The new keys and values are concatenated to the cache, which is
returned as outputs.
"""
import math

import numpy as np

from graph_builder import BOOL, FLOAT, INT64, GraphBuilder

LAYERS = 12
WIDTH = 768
HEADS = 12
HEAD_WIDTH = WIDTH // HEADS
VOCABULARY = 50257
POSITIONS = 1024


def conv1d(net, value, name, fan_in, fan_out):
    shape = net.shape_of(net.dim(value, 0), net.dim(value, 1), fan_out)
    rows = net.op("Reshape", value, net.constant([-1, fan_in], np.int64))
    weight = net.normal(f"{name}.weight", (fan_in, fan_out), fan_in ** -0.5)
    bias = net.normal(f"{name}.bias", (fan_out,), 0.05)
    product = net.op("Gemm", rows, weight, bias, alpha=1.0, beta=1.0)
    return net.op("Reshape", product, shape)


def split_heads(net, value):
    shape = net.shape_of(net.dim(value, 0), net.dim(value, 1), HEADS, HEAD_WIDTH)
    return net.op("Transpose", net.op("Reshape", value, shape), perm=[0, 2, 1, 3])


def gelu(net, value):
    """The tanh approximation of Gelu."""
    cube = net.op("Mul", net.op("Pow", value, net.constant(3.0)), net.constant(0.044715))
    inner = net.op("Mul", net.op("Add", value, cube), net.constant(math.sqrt(2.0 / math.pi)))
    outer = net.op("Add", net.op("Tanh", inner), net.constant(1.0))
    return net.op("Mul", net.op("Mul", value, net.constant(0.5)), outer)


def causal_window(net, triangle, query, key):
    """Returns the causal mask: a row for each new position, a column for each past or new one."""
    total = net.dim(key, 2)
    first = net.op("Sub", total, net.dim(query, 2))
    axis = lambda i: net.constant([i], np.int64)
    rows = net.op("Slice", triangle, net.unsqueeze(first, 0), net.unsqueeze(total, 0), axis(2),
                  axis(1))
    return net.op("Slice", rows, axis(0), net.unsqueeze(total, 0), axis(3), axis(1))


def attention(net, value, mask, triangle, layer):
    name = f"h.{layer}.attn"
    joined = conv1d(net, value, f"{name}.c_attn", WIDTH, 3 * WIDTH)
    query, key, content = [split_heads(net, part)
                           for part in net.split(joined, [WIDTH] * 3, axis=2)]
    past = ["batch", HEADS, "past", HEAD_WIDTH]
    past_key = net.input(f"past_key_values.{layer}.key", FLOAT, past)
    past_value = net.input(f"past_key_values.{layer}.value", FLOAT, past)
    key = net.op("Concat", past_key, key, axis=2)
    content = net.op("Concat", past_value, content, axis=2)
    scores = net.op("MatMul", query, net.op("Transpose", key, perm=[0, 1, 3, 2]))
    scores = net.op("Div", scores, net.constant(math.sqrt(HEAD_WIDTH)))
    scores = net.op("Where", causal_window(net, triangle, query, key), scores,
                    net.constant(-10000.0))
    weights = net.op("Softmax", net.op("Add", scores, mask), axis=-1)
    context = net.op("Transpose", net.op("MatMul", weights, content), perm=[0, 2, 1, 3])
    shape = net.shape_of(net.dim(context, 0), net.dim(context, 1), WIDTH)
    result = conv1d(net, net.op("Reshape", context, shape), f"{name}.c_proj", WIDTH, WIDTH)
    present = ["batch", HEADS, "total", HEAD_WIDTH]
    net.output(f"present.{layer}.key", key, FLOAT, present)
    net.output(f"present.{layer}.value", content, FLOAT, present)
    return result


def gpt2_decode():
    net = GraphBuilder("gpt2_decode", opset=13, seed=5)
    input_ids = net.input("input_ids", INT64, ["batch", "length"])
    position_ids = net.input("position_ids", INT64, ["batch", "length"])
    attention_mask = net.input("attention_mask", INT64, ["batch", "total"])
    triangle = net.initializer("causal", np.tril(np.ones((1, 1, POSITIONS, POSITIONS), np.bool_)))
    mask = net.unsqueeze(net.unsqueeze(attention_mask, 1), 2)
    mask = net.op("Sub", net.constant(1.0), net.op("Cast", mask, to=FLOAT))
    mask = net.op("Mul", mask, net.constant(-10000.0))
    words = net.normal("wte.weight", (VOCABULARY, WIDTH), 0.7)
    positions = net.normal("wpe.weight", (POSITIONS, WIDTH), 0.7)
    value = net.op("Add", net.op("Gather", words, input_ids),
                   net.op("Gather", positions, position_ids))
    for layer in range(LAYERS):
        normal = net.layer_norm(value, f"h.{layer}.ln_1", WIDTH)
        value = net.op("Add", attention(net, normal, mask, triangle, layer), value)
        normal = net.layer_norm(value, f"h.{layer}.ln_2", WIDTH)
        inner = gelu(net, conv1d(net, normal, f"h.{layer}.mlp.c_fc", WIDTH, 4 * WIDTH))
        value = net.op("Add", value, conv1d(net, inner, f"h.{layer}.mlp.c_proj", 4 * WIDTH, WIDTH))
    value = net.layer_norm(value, "ln_f", WIDTH)
    head = net.normal("lm_head.weight", (WIDTH, VOCABULARY), WIDTH ** -0.5)
    net.output("logits", net.op("MatMul", value, head), FLOAT, ["batch", "length", VOCABULARY])
    return net.model()
