"""Cases of RNN, GRU and LSTM. The reference loops over the time steps of each sequence and
direction, in float64."""
import numpy as np

from case_file import case, cases, reals

_FUNCTIONS = {
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Softplus": lambda x: np.log1p(np.exp(x)),
    "LeakyRelu": lambda x, alpha: np.where(x < 0, alpha * x, x),
    "Elu": lambda x, alpha: np.where(x < 0, alpha * np.expm1(x), x),
    "ThresholdedRelu": lambda x, alpha: np.where(x >= alpha, x, 0),
    "HardSigmoid": lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
    "Affine": lambda x, alpha, beta: alpha * x + beta,
    "ScaledTanh": lambda x, alpha, beta: alpha * np.tanh(beta * x),
}
_PARAMETERS = {"LeakyRelu": 1, "Elu": 1, "ThresholdedRelu": 1, "HardSigmoid": 2, "Affine": 2,
               "ScaledTanh": 2}
_DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _rnn(x, h, c, w, r, wb, rb, p, f, clip, attributes):
    return f[0](clip(w @ x + r @ h + wb + rb)), c


def _gru(x, h, c, w, r, wb, rb, p, f, clip, attributes):
    (wz, wr, wh), (rz, rr, rh) = np.split(w, 3), np.split(r, 3)
    (wbz, wbr, wbh), (rbz, rbr, rbh) = np.split(wb, 3), np.split(rb, 3)
    z = f[0](clip(wz @ x + rz @ h + wbz + rbz))
    reset = f[0](clip(wr @ x + rr @ h + wbr + rbr))
    if attributes.get("linear_before_reset"):
        candidate = f[1](clip(wh @ x + reset * (rh @ h + rbh) + wbh))
    else:
        candidate = f[1](clip(wh @ x + rh @ (reset * h) + rbh + wbh))
    return (1 - z) * candidate + z * h, c


def _lstm(x, h, c, w, r, wb, rb, p, f, clip, attributes):
    i, o, forget, g = np.split(w @ x + r @ h + wb + rb, 4)
    pi, po, pf = np.split(p, 3)
    i = f[0](clip(i + pi * c))
    forget = 1 - i if attributes.get("input_forget") else f[0](clip(forget + pf * c))
    c = forget * c + i * f[1](clip(g))
    o = f[0](clip(o + po * c))
    return o * f[2](clip(c)), c


_STEPS = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}


def _functions(names, alphas, betas):
    """One callable for each activation name. An activation with parameters takes the next element
    of `alphas`, and of `betas` if it has two."""
    lists, functions = (iter(alphas), iter(betas)), []
    for name in names:
        numbers = [next(numbers) for numbers in lists[:_PARAMETERS.get(name, 0)]]
        functions.append(lambda x, name=name, numbers=numbers: _FUNCTIONS[name](x, *numbers))
    return functions


def reference(op, x, w, r, b=None, lengths=None, h0=None, c0=None, p=None, **attributes):
    """The outputs Y, Y_h and Y_c of the operator for x [steps, batch, input], in layout 0."""
    steps, batch, _ = x.shape
    directions, _, hidden = r.shape
    names = attributes.get("activations", _DEFAULTS[op] * directions)
    functions = _functions(names, attributes.get("activation_alpha", []),
                           attributes.get("activation_beta", []))
    limit = attributes.get("clip", np.inf)
    gates = _GATES[op]
    b = np.zeros((directions, 2 * gates * hidden)) if b is None else b
    p = np.zeros((directions, 3 * hidden)) if p is None else p
    h0 = np.zeros((directions, batch, hidden)) if h0 is None else h0
    c0 = np.zeros((directions, batch, hidden)) if c0 is None else c0
    y = np.zeros((steps, directions, batch, hidden))
    h, c = np.array(h0, np.float64), np.array(c0, np.float64)
    count = len(names) // directions
    for d in range(directions):
        is_reverse = d == 1 or attributes.get("direction") == "reverse"
        wb, rb = np.split(b[d].astype(np.float64), 2)
        for n in range(batch):
            length = steps if lengths is None else lengths[n]
            for t in reversed(range(length)) if is_reverse else range(length):
                h[d, n], c[d, n] = _STEPS[op](
                    x[t, n].astype(np.float64), h[d, n], c[d, n], w[d].astype(np.float64),
                    r[d].astype(np.float64), wb, rb, p[d], functions[d * count:(d + 1) * count],
                    lambda v: np.clip(v, -limit, limit), attributes)
                y[t, d, n] = h[d, n]
    return y, h, c


def _case(name, op, steps=4, batch=3, width=3, hidden=5, parts="b", lengths=None, opset=14,
          write=cases, **attributes):
    """Calls `write`, which is case or cases. `parts` lists the optional inputs: b (the bias), h and
    c (the initial states) and p (the peephole weights)."""
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    gates = _GATES[op]
    x = reals(f"{name}x", steps, batch, width)
    weights = {"w": reals(f"{name}w", directions, gates * hidden, width) / 2,
               "r": reals(f"{name}r", directions, gates * hidden, hidden) / 2}
    optional = {"b": ("b", (directions, 2 * gates * hidden)),
                "h": ("h0", (directions, batch, hidden)),
                "c": ("c0", (directions, batch, hidden)), "p": ("p", (directions, 3 * hidden))}
    given = {key: reals(f"{name}{key}", *shape)
             for part, (key, shape) in optional.items() if part in parts}
    if lengths is not None:
        given["lengths"] = np.array(lengths, np.int32)
    results = reference(op, x, **weights, **given, **attributes)
    results = [result.astype(np.float32) for result in results[:3 if op == "LSTM" else 2]]
    inputs = {"x": x, **{key: given[key] for key in ("lengths", "h0", "c0") if key in given}}
    if attributes.get("layout"):
        for key in ("x", "h0", "c0"):
            if key in inputs:
                inputs[key] = inputs[key].transpose(1, 0, 2)
        results = [results[0].transpose(2, 0, 1, 3)] + [y.transpose(1, 0, 2) for y in results[1:]]
    constants = {**weights, **{key: given[key] for key in ("b", "p") if key in given}}
    order = [key if key in inputs or key in constants else ""
             for key in ("x", "w", "r", "b", "lengths", "h0", "c0", "p")[:8 if op == "LSTM" else 6]]
    while not order[-1]:
        order.pop()
    write(name, opset, op, inputs, results, constants=constants, order=order, hidden_size=hidden,
          **attributes)


def write_cases():
    for op in _DEFAULTS:
        low = op.lower()
        states = "bhcp" if op == "LSTM" else "bh"
        for direction in ("forward", "reverse", "bidirectional"):
            _case(f"{low}_{direction}", op, parts=states, direction=direction)
            _case(f"{low}_{direction}_lengths", op, parts=states, lengths=[4, 1, 3],
                  direction=direction)
        _case(f"{low}_batch_first", op, parts="bhc", direction="bidirectional", layout=1)
        _case(f"{low}_batch_first_lengths", op, parts="b", lengths=[2, 4, 3], layout=1,
              direction="reverse")
        _case(f"{low}_one_step", op, steps=1, parts=states)
        _case(f"{low}_one_step_lengths", op, steps=1, parts="b", lengths=[1, 0, 1])
        _case(f"{low}_one_sequence", op, steps=7, batch=1, hidden=33, parts="b")
        _case(f"{low}_no_bias", op, parts="", opset=7)
        _case(f"{low}_clip", op, parts=states, clip=0.5)
    _case("lstm_input_forget", "LSTM", parts="bhcp", input_forget=1)
    _case("gru_linear_before_reset", "GRU", parts="bh", linear_before_reset=1)
    _case("gru_linear_before_reset_no_bias", "GRU", parts="h", linear_before_reset=1)
    _case("gru_linear_before_reset_both_ways", "GRU", parts="bh", linear_before_reset=1,
          lengths=[1, 4, 2], direction="bidirectional")
    _case("lstm_activations", "LSTM", write=case, parts="bhcp", direction="bidirectional",
          activations=["HardSigmoid", "ScaledTanh", "Softsign", "Sigmoid", "Elu", "Affine"],
          activation_alpha=[0.25, 1.5, 0.75, 0.5], activation_beta=[0.4, 0.8, 0.1])
    _case("gru_activations", "GRU", write=case, activations=["LeakyRelu", "Softplus"],
          activation_alpha=[0.1], steps=2)
    _case("rnn_activations", "RNN", write=case, direction="bidirectional",
          activations=["ThresholdedRelu", "Relu"], activation_alpha=[0.3])
