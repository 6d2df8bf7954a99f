"""Cases of GroupNormalization (scale per group in opset 18, per channel since opset 21),
BatchNormalization in training mode, and Det."""
import numpy as np

from case_file import case, cases, reals


def _group_norm(x, scale, bias, groups, epsilon):
    y = np.empty_like(x, dtype=np.float64)
    size = x.shape[1] // groups
    for image in range(x.shape[0]):
        for group in range(groups):
            part = slice(group * size, (group + 1) * size)
            values = x[image, part].astype(np.float64)
            y[image, part] = (values - values.mean()) / np.sqrt(values.var() + epsilon)
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    return (y * scale.reshape(per_channel) + bias.reshape(per_channel)).astype(x.dtype)


def write_cases():
    x = reals("group", 2, 6, 3, 4)
    scale, bias = reals("scale", 3), reals("bias", 3)
    cases("group_norm", 18, "GroupNormalization", {"x": x, "scale": scale, "bias": bias},
         [_group_norm(x, np.repeat(scale, 2), np.repeat(bias, 2), 3, 1e-5)], num_groups=3)
    scale, bias = reals("scale", 6), reals("bias", 6)
    for opset in (21, 22):
        cases("group_norm", opset, "GroupNormalization", {"x": x, "scale": scale, "bias": bias},
             [_group_norm(x, scale, bias, 2, 1e-2)], num_groups=2, epsilon=1e-2)
    half = x.astype(np.float16)
    y = _group_norm(half, scale.astype(np.float16), bias.astype(np.float16), 6, 1e-5)
    case("group_norm_f16", 21, "GroupNormalization",
         {"x": half, "scale": scale.astype(np.float16), "bias": bias.astype(np.float16)}, [y],
         num_groups=6)

    weights = [reals(f"w{i}", 6) for i in range(3)] + [np.abs(reals("w3", 6))]
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    column = (1, -1, 1, 1)
    y = (x - mean.reshape(column)) / np.sqrt(var.reshape(column) + 1e-5)
    y = y * weights[0].reshape(column) + weights[1].reshape(column)
    names = dict(zip(("scale", "bias", "mean", "var"), weights))
    cases("batch_norm_training", 15, "BatchNormalization", {"x": x, **names},
         [y, weights[2] * 0.7 + mean * 0.3, weights[3] * 0.7 + var * 0.3], training_mode=1,
         momentum=0.7)

    # A vector of zeros has no direction: it is unchanged.
    x = reals("lp", 2, 3, 4)
    x[1, 2] = 0
    for p, norm in ((1, np.abs(x).sum(2, keepdims=True)), (2, np.sqrt((x * x).sum(2, keepdims=True)))):
        cases(f"lp_norm_of_zeros_{p}", 22, "LpNormalization", {"x": x},
              [np.divide(x, norm, out=np.zeros_like(x), where=norm != 0)], p=p)

    x = reals("det", 3, 2, 5, 5)
    x[0, 0, 0, 0] = 0  # needs a pivot from another row
    x[1, 1, 3] = x[1, 1, 1] * 2  # singular
    wanted = np.linalg.det(x.astype(np.float64)).astype(np.float32)
    wanted[1, 1] = 0
    cases("det", 11, "Det", {"x": x}, [wanted])
    x = reals("det", 1, 1).astype(np.float64)
    case("det_of_one", 22, "Det", {"x": x}, [x[0, 0]])
    case("det_of_none", 22, "Det", {"x": np.zeros((2, 0, 0), np.float32)}, [np.ones(2, np.float32)])
