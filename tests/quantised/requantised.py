"""Random convolutions between DequantizeLinear and QuantizeLinear, with biases, Relu
and Clip. The expected result follows docs/pipeline.md: exact sums, multiplied by a quotient
of the scales."""
import numpy as np

import onnx_file

F32 = np.float32


def _zero(rng, dtype, is_zero):
    limits = np.iinfo(dtype)
    return np.array(0 if is_zero else rng.integers(limits.min, limits.max + 1), dtype)


def _attributes(rng, spatial, group):
    return {"strides": rng.integers(1, 3, spatial).tolist(),
            "pads": rng.integers(0, 3, 2 * spatial).tolist(),
            "dilations": rng.integers(1, 3, spatial).tolist() if rng.random() < .3
            else [1] * spatial, "group": group}


def _shapes(rng, spatial):
    """Dims of x and w, and the number of groups."""
    kind = rng.integers(0, 4)
    if kind == 0:  # one channel for each group
        group = int(rng.integers(2, 40))
        channels, rows = group, group
    elif kind == 1:
        group = int(rng.integers(2, 4))
        channels, rows = group * int(rng.choice([2, 4, 16])), group * int(rng.choice([2, 4, 16]))
    else:
        group, channels, rows = 1, int(rng.integers(1, 70)), int(rng.integers(1, 50))
    size = 1 if kind == 3 else 3
    kernel = [int(rng.integers(1, size + 1)) for _ in range(spatial)]
    dims = [int(rng.integers(6, 14)) for _ in range(spatial)]
    return [int(rng.integers(1, 3)), channels] + dims, [rows, channels // group] + kernel, group


def convolution(seed, conv_sums):
    rng = np.random.default_rng(1000 + seed)
    spatial = 1 if rng.random() < .2 else 2
    x_dims, w_dims, group = _shapes(rng, spatial)
    a = _attributes(rng, spatial, group)
    x_type, y_type = (np.uint8 if rng.random() < .7 else np.int8 for _ in range(2))
    limits = np.iinfo(x_type)
    x = rng.integers(limits.min, limits.max + 1, x_dims).astype(x_type)
    w = rng.integers(-127, 128, w_dims).astype(np.int8)
    x_zero, y_zero = _zero(rng, x_type, rng.random() < .5), _zero(rng, y_type, rng.random() < .5)
    w_zero = np.zeros(w_dims[0], np.int8)
    x_scale, w_scale = F32(rng.uniform(.01, .1)), rng.uniform(.001, .02, w_dims[0]).astype(F32)
    sums = conv_sums(x, x_zero, w, w_zero, a["strides"], a["pads"], a["dilations"], group)
    scale = (x_scale * w_scale).astype(F32)
    y_scale = F32(np.std(sums * scale.reshape([-1] + [1] * spatial)) / 40 + 1e-3)
    along = [-1] + [1] * spatial
    inputs = [("x", x), ("x_scale", x_scale), ("x_zero", x_zero), ("w", w), ("w_scale", w_scale),
              ("w_zero", w_zero)]
    nodes = [onnx_file.node("DequantizeLinear", ["x", "x_scale", "x_zero"], ["image"]),
             onnx_file.node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["weights"], axis=0)]
    operands, real_bias = ["image", "weights"], None
    kind = rng.integers(0, 3)
    if kind == 1:  # integers with the scale of the sums
        bias = rng.integers(-3000, 3000, w_dims[0]).astype(np.int32)
        inputs += [("bias", bias), ("bias_scale", scale)]
        nodes.append(onnx_file.node("DequantizeLinear", ["bias", "bias_scale"], ["real_bias"],
                                    axis=0))
        operands.append("real_bias")
        sums = sums + bias.reshape(along)
    elif kind == 2:
        real_bias = rng.uniform(-1, 1, w_dims[0]).astype(F32)
        inputs.append(("bias", real_bias))
        operands.append("bias")
    nodes.append(onnx_file.node("Conv", operands, ["product"], **a))
    y = sums.astype(F32) * (scale / y_scale).astype(F32).reshape(along)
    if real_bias is not None:
        y = y + (real_bias / y_scale).astype(F32).reshape(along)
    result = "product"
    kind = rng.integers(0, 3)
    if kind == 1:
        nodes.append(onnx_file.node("Relu", ["product"], ["positive"]))
        y, result = np.maximum(y, F32(0)), "positive"
    elif kind == 2:
        low, high = F32(rng.choice([0, -.5])), F32(y_scale * rng.choice([60, 255, 400]))
        inputs += [("low", low), ("high", high)]
        nodes.append(onnx_file.node("Clip", ["product", "low", "high"], ["limited"]))
        y, result = np.clip(y, F32(low / y_scale), F32(high / y_scale)), "limited"
    inputs += [("y_scale", y_scale), ("y_zero", y_zero)]
    nodes.append(onnx_file.node("QuantizeLinear", [result, "y_scale", "y_zero"], ["y0"]))
    limits = np.iinfo(y_type)
    # A multiply-add is rounded once or twice, so that numbers between two integers have two results.
    if (np.abs(np.abs(y) % 1 - F32(.5)) < 1e-4).any():
        return convolution(seed + 10000, conv_sums)
    y = np.clip(np.rint(y) + F32(y_zero), limits.min, limits.max).astype(y_type)
    constants = [key for key, _ in inputs if key != "x"]
    return nodes, inputs, constants, y
