"""BERT encoders with dynamic batch and length, as PyTorch exports them below opset 17. LayerNorm
and Gelu are chains of elementwise ops and reductions. Shape, Gather, Concat and Reshape split the
heads of the attention."""
import math

import numpy as np

from graph_builder import FLOAT, INT64, GraphBuilder

WIDTH = 768
HEADS = 12
HEAD_WIDTH = WIDTH // HEADS
INNER = 3072
VOCABULARY = 30522
POSITIONS = 512


def embeddings(net, input_ids, token_type_ids):
    words = net.normal("embeddings.word.weight", (VOCABULARY, WIDTH), 0.5)
    types = net.normal("embeddings.token_type.weight", (2, WIDTH), 0.5)
    positions = net.normal("embeddings.position.weight", (POSITIONS, WIDTH), 0.5)
    position_ids = net.initializer("embeddings.position_ids",
                                   np.arange(POSITIONS, dtype=np.int64)[None])
    length = net.unsqueeze(net.dim(input_ids, 1), 0)
    ids = net.op("Slice", position_ids, net.constant([0], np.int64), length,
                 net.constant([1], np.int64), net.constant([1], np.int64))
    value = net.op("Add", net.op("Gather", words, input_ids),
                   net.op("Gather", types, token_type_ids))
    value = net.op("Add", value, net.op("Gather", positions, ids))
    return net.layer_norm(value, "embeddings.norm", WIDTH)


def split_heads(net, value, perm):
    shape = net.shape_of(net.dim(value, 0), net.dim(value, 1), HEADS, HEAD_WIDTH)
    return net.op("Transpose", net.op("Reshape", value, shape), perm=perm)


def attention(net, value, mask, name):
    query = net.linear(value, f"{name}.query", WIDTH, WIDTH)
    key = split_heads(net, net.linear(value, f"{name}.key", WIDTH, WIDTH), [0, 2, 3, 1])
    content = split_heads(net, net.linear(value, f"{name}.value", WIDTH, WIDTH), [0, 2, 1, 3])
    query = split_heads(net, query, [0, 2, 1, 3])
    scores = net.op("Div", net.op("MatMul", query, key), net.constant(math.sqrt(HEAD_WIDTH)))
    weights = net.op("Softmax", net.op("Add", scores, mask), axis=3)
    context = net.op("Transpose", net.op("MatMul", weights, content), perm=[0, 2, 1, 3])
    shape = net.shape_of(net.dim(context, 0), net.dim(context, 1), WIDTH)
    return net.linear(net.op("Reshape", context, shape), f"{name}.output", WIDTH, WIDTH)


def gelu(net, value):
    erf = net.op("Erf", net.op("Div", value, net.constant(math.sqrt(2.0))))
    return net.op("Mul", net.op("Mul", value, net.op("Add", erf, net.constant(1.0))),
                  net.constant(0.5))


def bert(name, layers, opset, seed):
    net = GraphBuilder(name, opset, seed)
    dims = ["batch", "length"]
    input_ids = net.input("input_ids", INT64, dims)
    attention_mask = net.input("attention_mask", INT64, dims)
    token_type_ids = net.input("token_type_ids", INT64, dims)
    mask = net.unsqueeze(net.unsqueeze(attention_mask, 1), 2)
    mask = net.op("Sub", net.constant(1.0), net.op("Cast", mask, to=FLOAT))
    mask = net.op("Mul", mask, net.constant(-10000.0))
    value = embeddings(net, input_ids, token_type_ids)
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}"
        attended = attention(net, value, mask, f"{prefix}.attention")
        value = net.layer_norm(net.op("Add", attended, value), f"{prefix}.attention.norm", WIDTH)
        inner = gelu(net, net.linear(value, f"{prefix}.intermediate", WIDTH, INNER))
        outer = net.linear(inner, f"{prefix}.output", INNER, WIDTH)
        value = net.layer_norm(net.op("Add", outer, value), f"{prefix}.output.norm", WIDTH)
    net.output("last_hidden_state", value, FLOAT, ["batch", "length", WIDTH])
    return net.model()


def bert_base():
    return bert("bert_base", layers=12, opset=12, seed=3)


def bert_2layer():
    return bert("bert_2layer", layers=2, opset=13, seed=4)
