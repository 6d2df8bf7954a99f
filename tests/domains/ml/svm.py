"""Cases of support vector machines."""
import numpy as np

from operators import ML, Case, operator, special
from . import scores


def _kernel(x, vectors, kind, parameters):
    gamma, offset, degree = parameters
    product = x.astype(np.float64) @ vectors.astype(np.float64).T
    if kind == "LINEAR":
        return product
    if kind == "POLY":
        return (gamma * product + offset)**degree
    if kind == "SIGMOID":
        return np.tanh(gamma * product + offset)
    return np.exp(-gamma * ((x[:, None].astype(np.float64) - vectors[None])**2).sum(2))


def _floats(array):
    return [float(number) for number in np.asarray(array).flat]


def _kernel_attributes(draw):
    kind = draw.choice("LINEAR", "POLY", "RBF", "SIGMOID")
    parameters = [0.25, 0.5, 2.0]
    return kind, parameters, {"kernel_type": kind, "kernel_params": parameters}


@operator("SVMRegressor", ML)
def _regressor(draw):
    columns, count = draw.number(1, 5), draw.number(1, 7)
    x, rho = draw.reals(draw.number(1, 6), columns), draw.reals(1)
    kind, parameters, attributes = _kernel_attributes(draw)
    if draw.number(0, 3) == 0:
        w = draw.reals(columns)
        y = x.astype(np.float64) @ w + rho
        attributes = {"coefficients": _floats(w), "kernel_type": "LINEAR",
                      "kernel_params": parameters}
    else:
        vectors, w = draw.reals(count, columns), draw.reals(count)
        y = _kernel(x, vectors, kind, parameters) @ w + rho
        attributes.update(coefficients=_floats(w), support_vectors=_floats(vectors),
                          n_supports=count)
    if draw.number(0, 3) == 0:
        attributes["one_class"] = 1
        y = np.where(y > 0, 1, -1)
    attributes["rho"] = _floats(rho)
    return Case({"x": x}, [y.astype(np.float32)[:, None]], attributes)


def _coupled(r):
    """The probabilities of libsvm from those of each pair of classes: r[i, j] of i against j."""
    k = len(r)
    q = -r * r.T
    np.fill_diagonal(q, [sum(r[j, t]**2 for j in range(k) if j != t) for t in range(k)])
    p = np.full(k, 1 / k)
    for _ in range(max(100, k)):
        qp = q @ p
        total = p @ qp
        if np.abs(qp - total).max() < 0.005 / k:
            break
        for t in range(k):
            step = (total - qp[t]) / q[t, t]
            p[t] += step
            total = (total + step * (step * q[t, t] + 2 * qp[t])) / (1 + step)**2
            qp = (qp + step * q[t]) / (1 + step)
            p = p / (1 + step)
    return p


@operator("SVMClassifier", ML)
def _classifier(draw):
    columns, count = draw.number(1, 5), draw.choice(2, 3, 4)
    x = draw.reals(draw.number(1, 6), columns)
    attributes, labels = scores.labels(draw, count, integers="classlabels_ints")
    kind, parameters, kernel = _kernel_attributes(draw)
    attributes.update(kernel)
    sizes = [draw.number(1, 4) for _ in range(count)]
    starts, total = np.cumsum([0, *sizes]), sum(sizes)
    vectors, w = draw.reals(total, columns), draw.reals(count - 1, total)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    rho = draw.reals(len(pairs))
    k = _kernel(x, vectors, kind, parameters)
    each = np.zeros((len(x), len(pairs)))
    for p, (i, j) in enumerate(pairs):
        a, b = np.s_[starts[i]:starts[i + 1]], np.s_[starts[j]:starts[j + 1]]
        each[:, p] = k[:, a] @ w[j - 1, a] + k[:, b] @ w[i, b] + rho[p]
    votes = np.zeros((len(x), count))
    for p, (i, j) in enumerate(pairs):
        votes[np.arange(len(x)), np.where(each[:, p] > 0, i, j)] += 1
    index, y = votes.argmax(1), each
    if draw.flag():
        a, b = draw.reals(len(pairs)), draw.reals(len(pairs))
        attributes.update(prob_a=_floats(a), prob_b=_floats(b))
        y = np.zeros((len(x), count))
        for row in range(len(x)):
            r = np.zeros((count, count))
            for p, (i, j) in enumerate(pairs):
                r[i, j] = np.clip(scores.logistic(-(each[row, p] * a[p] + b[p])), 1e-7, 1 - 1e-7)
                r[j, i] = 1 - r[i, j]
            y[row] = _coupled(r)
    elif count == 2:
        y = np.concatenate([-each, each], 1)
    attributes.update(coefficients=_floats(w), support_vectors=_floats(vectors), rho=_floats(rho),
                      vectors_per_class=sizes)
    return Case({"x": x}, [labels[index], y.astype(np.float32)], attributes)


@special("linear", "SVMClassifier", ML)
def _linear_classifier(draw):
    """Without support vectors."""
    columns, count = draw.number(1, 5), draw.choice(1, 2, 2, 3)
    x = draw.reals(draw.number(1, 6), columns)
    attributes, labels = scores.labels(draw, count, integers="classlabels_ints")
    low, transform = draw.choice(-2.0, -2.0, 0.0), draw.choice(*scores.TRANSFORMS)
    w, rho = draw.reals(count, columns, low=low), draw.reals(draw.choice(1, count))
    if transform == "PROBIT":  # of scores in (0, 0.5)
        x, w = abs(x), draw.reals(count, columns, low=0, high=0.15 / columns)
        rho = draw.reals(len(rho), low=0.01, high=0.1)
    y = x.astype(np.float64) @ w.T.astype(np.float64) + rho[0]
    index = y.argmax(1)
    if count == 2:
        if draw.flag():
            attributes.update(prob_a=[0.5], prob_b=[0.25])
        else:
            index[y.max(1) >= 0.5 if (w >= 0).all() else y.max(1) > 0] = 1
    if count > 1 or transform == "PROBIT":
        y = scores.transform(y, transform)
    # ONNX Runtime requires the parameters of a kernel, but the kernel is linear.
    attributes.update(_kernel_attributes(draw)[2], coefficients=_floats(w), rho=_floats(rho),
                      post_transform=transform)
    return Case({"x": x}, [labels[index], y.astype(np.float32)], attributes)
