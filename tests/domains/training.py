"""Cases of the optimisers of ai.onnx.preview.training."""
import numpy as np

from operators import Case, operator

_DOMAIN = "ai.onnx.preview.training"


def _tensors(draw, states, non_negative=()):
    """The inputs, and for each optimised tensor its value, gradient and states. The states with the
    indices `non_negative` are sums of squares. Some are 0, and so is their gradient."""
    dtype = draw.choice(np.float32, np.float64)
    count = draw.number(1, 3)
    shapes = [tuple(draw.number(1, 4) for _ in range(draw.number(0, 3))) for _ in range(count)]
    one = (1,) if draw.flag() else ()
    inputs = {"R": draw.reals(*one, low=0.01, high=0.5).astype(draw.choice(np.float32, dtype)),
              "T": draw.integers(0, 4, *one)}
    groups = []
    for group in range(2 + states):
        low = 0.1 if group - 2 in non_negative else -2.0
        groups.append([draw.reals(*shape, low=low).astype(dtype) for shape in shapes])
    if draw.flag():
        for group in range(1, 2 + states):
            groups[group][0] = np.zeros(shapes[0], dtype)
    for name, arrays in zip("xgvh", groups):
        inputs |= {f"{name}{i}": array for i, array in enumerate(arrays)}
    return inputs, list(zip(*groups))


def _case(inputs, updated, attributes):
    dtype = inputs["x0"].dtype
    results = [np.asarray(result, dtype) for results in zip(*updated) for result in results]
    return Case(inputs, results, attributes)


def _given(**attributes):
    """The attributes that are not None; the others have their defaults."""
    return {name: value for name, value in attributes.items() if value is not None}


def _step(inputs, x):
    return x.dtype.type(inputs["R"].reshape(())), int(inputs["T"].reshape(()))


@operator("Adagrad", _DOMAIN)
def _adagrad(draw):
    inputs, tensors = _tensors(draw, 1, non_negative=(0,))
    decay, norm = 0.125 * draw.number(0, 2), 0.25 * draw.number(0, 2)
    epsilon = draw.choice(0.0078125, None)
    updated = []
    for x, gradient, squares in tensors:
        rate, step = _step(inputs, x)
        gradient = norm * x + gradient
        squares = squares + gradient ** 2
        rate = rate / (1 + step * decay)
        updated.append((x - rate * gradient / (np.sqrt(squares) + (epsilon or 1e-6)), squares))
    return _case(inputs, updated, _given(decay_factor=decay, epsilon=epsilon,
                                         norm_coefficient=norm))


@operator("Adam", _DOMAIN)
def _adam(draw):
    inputs, tensors = _tensors(draw, 2, non_negative=(1,))
    epsilon = draw.choice(0.0078125, None)
    alpha, beta = 0.875, 0.96875
    norm, norm_after = 0.25 * draw.number(0, 2), 0.125 * draw.number(0, 2)
    updated = []
    for x, gradient, mean, squares in tensors:
        rate, step = _step(inputs, x)
        gradient = norm * x + gradient
        mean = alpha * mean + (1 - alpha) * gradient
        squares = beta * squares + (1 - beta) * gradient ** 2
        if step > 0:
            rate = rate * np.sqrt(1 - beta ** step) / (1 - alpha ** step)
        x = x - rate * mean / (np.sqrt(squares) + (epsilon or 1e-6))
        updated.append(((1 - norm_after) * x, mean, squares))
    return _case(inputs, updated, _given(alpha=alpha, beta=beta, epsilon=epsilon,
                                         norm_coefficient=norm, norm_coefficient_post=norm_after))


@operator("Momentum", _DOMAIN)
def _momentum(draw):
    inputs, tensors = _tensors(draw, 1)
    alpha, beta, norm = 0.875, 0.75, 0.25 * draw.number(0, 2)
    mode = draw.choice("standard", "nesterov")
    updated = []
    for x, gradient, velocity in tensors:
        rate, step = _step(inputs, x)
        gradient = norm * x + gradient
        velocity = alpha * velocity + (beta if step > 0 else 1.0) * gradient
        direction = gradient + alpha * velocity if mode == "nesterov" else velocity
        updated.append((x - rate * direction, velocity))
    return _case(inputs, updated,
                 {"alpha": alpha, "beta": beta, "mode": mode, "norm_coefficient": norm})
