"""Trains the example's network on scikit-learn's 8x8 handwritten digits. Writes digits.onnx,
five.npy, three.npy and labels.txt to the folder of this file.

    /usr/bin/python3 examples/digits/train.py        (python3-numpy, python3-sklearn, python3-onnx)

The network has two 3x3 convolutions with ReLU and 2x2 max pooling, one dense layer and a softmax.
Training uses only NumPy: a convolution is a matrix product over the 3x3 neighbourhoods of pixels.
"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

FOLDER = pathlib.Path(__file__).parent
CHANNELS = [1, 16, 32]
EPOCHS = 30
BATCH = 32


def neighbourhoods(x):
    """Returns the zero-padded 3x3 patch around every pixel: [n,h,w,c*9] for images [n,c,h,w]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(*x.shape[:1], *x.shape[2:], -1)


def conv_relu_pool(x, weight, bias):
    """Returns the pooled output and the values that the backward pass needs."""
    patches = neighbourhoods(x)
    y = patches @ weight.reshape(len(weight), -1).T + bias  # [n,h,w,out]
    n, h, w, out = y.shape
    blocks = y.reshape(n, h // 2, 2, w // 2, 2, out).transpose(0, 5, 1, 3, 2, 4)
    blocks = blocks.reshape(n, out, h // 2, w // 2, 4)
    winner = blocks.argmax(axis=-1)
    pooled = np.take_along_axis(blocks, winner[..., None], axis=-1)[..., 0]
    return np.maximum(pooled, 0), (patches, winner, pooled > 0, x.shape)


def conv_relu_pool_backward(gradient, weight, saved):
    """Returns the gradients of weight, bias and input for a gradient of the output."""
    patches, winner, positive, (n, c, h, w) = saved
    out = len(weight)
    blocks = np.zeros((*winner.shape, 4), np.float32)
    np.put_along_axis(blocks, winner[..., None], (gradient * positive)[..., None], axis=-1)
    dy = blocks.reshape(n, out, h // 2, w // 2, 2, 2).transpose(0, 2, 4, 3, 5, 1)
    dy = dy.reshape(n * h * w, out)
    d_weight = (dy.T @ patches.reshape(n * h * w, -1)).reshape(weight.shape)
    d_patches = (dy @ weight.reshape(out, -1)).reshape(n, h, w, c, 3, 3)
    d_padded = np.zeros((n, c, h + 2, w + 2), np.float32)
    for row in range(3):
        for column in range(3):
            d_padded[:, :, row:row + h, column:column + w] += \
                d_patches[..., row, column].transpose(0, 3, 1, 2)
    return d_weight, dy.sum(axis=0), d_padded[:, :, 1:-1, 1:-1]


def forward(parameters, images):
    """Returns the logits and the saved values of each layer."""
    first, saved_first = conv_relu_pool(images, parameters["conv1.weight"], parameters["conv1.bias"])
    second, saved_second = conv_relu_pool(first, parameters["conv2.weight"], parameters["conv2.bias"])
    flat = second.reshape(len(images), -1)
    logits = flat @ parameters["dense.weight"].T + parameters["dense.bias"]
    return logits, (saved_first, saved_second, flat, second.shape)


def gradients(parameters, images, labels):
    logits, (saved_first, saved_second, flat, shape) = forward(parameters, images)
    d_logits = np.exp(logits - logits.max(axis=1, keepdims=True))
    d_logits /= d_logits.sum(axis=1, keepdims=True)
    d_logits[np.arange(len(labels)), labels] -= 1
    d_logits /= len(labels)
    d_second = (d_logits @ parameters["dense.weight"]).reshape(shape)
    w2, b2, d_first = conv_relu_pool_backward(d_second, parameters["conv2.weight"], saved_second)
    w1, b1, _ = conv_relu_pool_backward(d_first, parameters["conv1.weight"], saved_first)
    return {"conv1.weight": w1, "conv1.bias": b1, "conv2.weight": w2, "conv2.bias": b2,
            "dense.weight": d_logits.T @ flat, "dense.bias": d_logits.sum(axis=0)}


def initial_parameters(random):
    parameters = {}
    for layer, (fan_in, out) in enumerate(zip(CHANNELS, CHANNELS[1:]), start=1):
        scale = np.sqrt(2 / (9 * fan_in))
        parameters[f"conv{layer}.weight"] = scale * random.standard_normal((out, fan_in, 3, 3))
        parameters[f"conv{layer}.bias"] = np.zeros(out)
    features = CHANNELS[-1] * 4
    parameters["dense.weight"] = random.standard_normal((10, features)) / np.sqrt(features)
    parameters["dense.bias"] = np.zeros(10)
    return {name: value.astype(np.float32) for name, value in parameters.items()}


def train(images, labels, random):
    """Trains with Adam and its default constants. The step size decays to 0 along a half cosine."""
    parameters = initial_parameters(random)
    mean = {name: np.zeros_like(value) for name, value in parameters.items()}
    square = {name: np.zeros_like(value) for name, value in parameters.items()}
    steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start:start + BATCH]
            step += 1
            rate = 0.002 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for name, gradient in gradients(parameters, images[chosen], labels[chosen]).items():
                mean[name] += 0.1 * (gradient - mean[name])
                square[name] += 0.001 * (gradient ** 2 - square[name])
                change = (mean[name] / (1 - 0.9 ** step)) / (
                    np.sqrt(square[name] / (1 - 0.999 ** step)) + 1e-8)
                parameters[name] -= np.float32(rate) * change
    return parameters


def export(parameters, path):
    conv = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    pool = dict(kernel_shape=[2, 2], strides=[2, 2])
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["a"], "conv1", **conv),
        helper.make_node("Relu", ["a"], ["b"], "relu1"),
        helper.make_node("MaxPool", ["b"], ["c"], "pool1", **pool),
        helper.make_node("Conv", ["c", "conv2.weight", "conv2.bias"], ["d"], "conv2", **conv),
        helper.make_node("Relu", ["d"], ["e"], "relu2"),
        helper.make_node("MaxPool", ["e"], ["f"], "pool2", **pool),
        helper.make_node("Flatten", ["f"], ["g"], "flatten", axis=1),
        helper.make_node("Gemm", ["g", "dense.weight", "dense.bias"], ["h"], "dense", transB=1),
        helper.make_node("Softmax", ["h"], ["probability"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["n", 10])],
        initializer=[numpy_helper.from_array(v, name) for name, v in parameters.items()])
    model = helper.make_model(graph, producer_name="scopevm",
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))


def main():
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    labels = digits.target
    random = np.random.Generator(np.random.PCG64(0))
    order = random.permutation(len(images))
    held_out, used = order[:360], order[360:]
    parameters = train(images[used], labels[used], random)
    right = forward(parameters, images[held_out])[0].argmax(axis=1) == labels[held_out]
    print(f"{right.sum()} of {len(held_out)} held-out digits are right")
    export(parameters, FOLDER / "digits.onnx")
    # The first held-out image of each of eight digits.
    first = {digit: held_out[labels[held_out] == digit][0] for digit in range(10)}
    five, three = [first[d] for d in (7, 1, 4, 2, 9)], [first[d] for d in (5, 0, 8)]
    np.save(FOLDER / "five.npy", images[five])
    np.save(FOLDER / "three.npy", images[three])
    lines = [f"{name} {' '.join(map(str, labels[rows]))}\n"
             for name, rows in [("five", five), ("three", three)]]
    (FOLDER / "labels.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
