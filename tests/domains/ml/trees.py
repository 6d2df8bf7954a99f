"""Cases of decision trees."""
import numpy as np

import onnx_file
from operators import ML, Case, operator, special
from . import scores

_MODES = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal,
          "BRANCH_GT": np.greater, "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}


class _Node:
    """A node of a random tree. `weights` are (column, weight) pairs of a leaf."""

    def __init__(self, draw, depth, columns, modes, weight):
        self.weights = None
        if depth == 0 or draw.number(0, 5) == 0:
            self.weights = weight(draw)
            return
        self.mode = draw.choice(*modes)
        self.feature, self.takes_nan = draw.number(0, columns - 1), draw.number(0, 1)
        # Halves, so that elements of x can be equal to thresholds.
        self.threshold = draw.number(-4, 4) / 2
        # ONNX Runtime supports only sets of integers.
        self.members = sorted({float(draw.number(1, 3)) for _ in range(3)})
        self.yes, self.no = (_Node(draw, depth - 1, columns, modes, weight) for _ in range(2))

    def leaf_of(self, row):
        node = self
        while node.weights is None:
            x = row[node.feature]
            if node.mode == "MEMBER":
                is_true = x in node.members
            else:
                is_true = _MODES[node.mode](x, node.threshold)
            node = node.yes if is_true or (node.takes_nan and np.isnan(x)) else node.no
        return node.weights

    def all(self):
        return [self] if self.weights is not None else [self, *self.yes.all(), *self.no.all()]


def _input(draw, columns, dtype=np.float32):
    x = draw.integers(-5, 6, draw.number(1, 9), columns).astype(np.float64) / 2
    x[draw.integers(0, 8, *x.shape) == 0] = np.nan
    return x.astype(dtype)


def _node_attributes(roots):
    lists = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes",
                                   "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = []
    for tree, root in enumerate(roots):
        nodes = root.all()
        ids = {id(node): i for i, node in enumerate(nodes)}
        for i, node in enumerate(nodes):
            is_leaf = node.weights is not None
            if is_leaf:
                leaves += [(tree, i, column, weight) for column, weight in node.weights]
            entries = (tree, i, 0 if is_leaf else node.feature,
                       0.0 if is_leaf else float(node.threshold), "LEAF" if is_leaf else node.mode,
                       0 if is_leaf else ids[id(node.yes)], 0 if is_leaf else ids[id(node.no)],
                       0 if is_leaf else node.takes_nan)
            for values, entry in zip(lists.values(), entries):
                values.append(entry)
    return {f"nodes_{name}": values for name, values in lists.items()}, leaves


def _leaf_attributes(prefix, leaves):
    return {f"{prefix}_{name}": [leaf[i] for leaf in leaves]
            for i, name in enumerate(("treeids", "nodeids", "ids", "weights"))}


def _sum(roots, x, width):
    total = np.zeros((len(x), width))
    for root in roots:
        for i, row in enumerate(x):
            for column, weight in root.leaf_of(row):
                total[i, column] += np.float32(weight)
    return total


def _modes(draw):
    return draw.choice(("BRANCH_LEQ",), ("BRANCH_LEQ",), ("BRANCH_LT",), tuple(_MODES))


def _forest(draw, columns, modes, weight):
    return [_Node(draw, draw.number(0, 5), columns, modes, weight)
            for _ in range(draw.number(1, 20))]


def _some_weights(width, low=-1.0):
    """Weights of a leaf: one for each column."""
    def weight(draw):
        # A column without weights would get no base value in ONNX Runtime.
        columns = range(width)
        return [(column, float(draw.reals(1, low=low, high=1)[0])) for column in columns]
    return weight


@operator("TreeEnsembleRegressor", ML, 1)
@operator("TreeEnsembleRegressor", ML, 3)
def _regressor(draw):
    columns, width = draw.number(1, 5), draw.choice(1, 1, 3)
    x = _input(draw, columns)
    roots = _forest(draw, columns, _modes(draw), _some_weights(width))
    attributes, leaves = _node_attributes(roots)
    kind = draw.choice("SUM", "SUM", "AVERAGE", "MIN", "MAX") if width == 1 else "SUM"
    if kind in ("SUM", "AVERAGE"):
        y = _sum(roots, x, width) / (len(roots) if kind == "AVERAGE" else 1)
    else:
        function = np.min if kind == "MIN" else np.max
        y = np.array([[function([np.float32(w) for root in roots for _, w in root.leaf_of(row)])]
                      for row in x])
    if draw.flag():
        base = [float(number) for number in draw.reals(width)]
        attributes["base_values"] = base
        y = y + np.array(base, np.float32)
    attributes.update(_leaf_attributes("target", leaves), n_targets=width, aggregate_function=kind)
    return Case({"x": x}, [y.astype(np.float32)], attributes)


def _extreme(roots, row, function):
    """By column: the extreme weight, or 0."""
    weights = [pair for root in roots for pair in root.leaf_of(row)]
    return [function([weight for column, weight in weights if column == target], default=0)
            for target in range(3)]


@special("infinite", "TreeEnsembleRegressor", ML, 3)
def _infinite_regressor(draw):
    """Minima and maxima of weights that can be infinite. Leaves can have no weights."""
    columns, width = draw.number(1, 5), draw.choice(1, 3)
    x, kind = _input(draw, columns), draw.choice("MIN", "MAX")

    def weight(draw):
        # The base value of a column without weights is not added in ONNX Runtime.
        columns = [column for column in range(width) if width == 1 or draw.flag()]
        return [(column, draw.choice(-np.inf, 0.5, np.inf, np.inf)) for column in columns]

    roots = _forest(draw, columns, _modes(draw), weight)[:draw.number(1, 3)]
    attributes, leaves = _node_attributes(roots)
    function = min if kind == "MIN" else max
    y = np.array([_extreme(roots, row, function)[:width] for row in x], np.float32)
    if width == 1:
        attributes["base_values"] = [0.25]
        y = y + np.float32(0.25)
    attributes.update(_leaf_attributes("target", leaves), n_targets=width, aggregate_function=kind)
    return Case({"x": x}, [y], attributes)


@operator("TreeEnsembleClassifier", ML, 1)
@operator("TreeEnsembleClassifier", ML, 3)
def _classifier(draw):
    columns, count = draw.number(1, 5), draw.choice(2, 3, 4)
    x, transform = _input(draw, columns), draw.choice(*scores.TRANSFORMS[:4])
    attributes, labels = scores.labels(draw, count)
    if count == 2:
        low = draw.choice(0.0, -1.0)
        roots = _forest(draw, columns, _modes(draw),
                        lambda draw: [(0, float(draw.reals(1, low=low, high=1)[0] / 8))])
        nodes, leaves = _node_attributes(roots)
        total = _sum(roots, x, 1)
        is_positive = all(leaf[3] >= 0 for leaf in leaves)
        index = (total[:, 0] > (0.5 if is_positive else 0)).astype(int)
        if transform == "LOGISTIC":
            y = np.concatenate([scores.logistic(-total), scores.logistic(total)], 1)
        elif is_positive:
            y = np.concatenate([1 - total, total], 1)
        else:
            y = np.concatenate([-total, total], 1)
        y = y.astype(np.float32)
    else:
        roots = _forest(draw, columns, _modes(draw), lambda draw: [
            (column, float(draw.reals(1, low=0, high=1)[0])) for column in range(count)])
        nodes, leaves = _node_attributes(roots)
        total = _sum(roots, x, count)
        index, y = total.argmax(1), scores.transform(total, transform)
    attributes.update(nodes, **_leaf_attributes("class", leaves), post_transform=transform)
    return Case({"x": x}, [labels[index], y], attributes)


@operator("TreeEnsemble", ML, 5)
def _ensemble(draw):
    dtype = draw.choice(np.float32, np.float64)
    columns, width = draw.number(1, 5), draw.choice(1, 3)
    x = _input(draw, columns, dtype)
    modes = _modes(draw)
    if draw.flag():
        modes, x = (*_MODES, "MEMBER"), np.floor(x)
    roots = [root for root in _forest(draw, columns, modes, lambda draw: [
        (draw.number(0, width - 1), float(draw.reals(1)[0]))]) if root.weights is None]
    while not roots:
        roots = [root for root in _forest(draw, columns, modes, lambda draw: [
            (draw.number(0, width - 1), float(draw.reals(1)[0]))]) if root.weights is None]
    inner = [node for root in roots for node in root.all() if node.weights is None]
    leaves = [node for root in roots for node in root.all() if node.weights is not None]
    places = {id(node): i for nodes in (inner, leaves) for i, node in enumerate(nodes)}
    names = [*_MODES, "MEMBER"]
    members = [number for node in inner if node.mode == "MEMBER"
               for number in (*node.members, np.nan)]
    attributes = {
        "n_targets": width, "aggregate_function": 1, "post_transform": 0,
        "tree_roots": [places[id(root)] for root in roots],
        "nodes_featureids": [node.feature for node in inner],
        "nodes_truenodeids": [places[id(node.yes)] for node in inner],
        "nodes_falsenodeids": [places[id(node.no)] for node in inner],
        "nodes_trueleafs": [int(node.yes.weights is not None) for node in inner],
        "nodes_falseleafs": [int(node.no.weights is not None) for node in inner],
        "nodes_missing_value_tracks_true": [node.takes_nan for node in inner],
        "leaf_targetids": [node.weights[0][0] for node in leaves],
        "nodes_modes": onnx_file.tensor(
            np.array([(0, 1, 2, 3, 4, 5, 6)[names.index(node.mode)] for node in inner],
                     np.uint8)),
        "nodes_splits": onnx_file.tensor(np.array([node.threshold for node in inner], dtype)),
        "leaf_weights": onnx_file.tensor(np.array([node.weights[0][1] for node in leaves], dtype))}
    if members:
        attributes["membership_values"] = onnx_file.tensor(np.array(members, dtype))
    return Case({"x": x}, [_sum(roots, x, width).astype(dtype)], attributes)
