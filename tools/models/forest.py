"""A random forest classifier as skl2onnx exports one: 500 trees of depth 12 over 30 features.

The trees are totally randomised (Geurts, Ernst, Wehenkel, "Extremely randomized trees", 2006): each
node splits its samples at a random feature, between two random samples.
"""
import numpy as np
from onnx import TensorProto, helper

_TREES, _DEPTH, _FEATURES, _CLASSES, _SAMPLES = 500, 12, 30, 3, 1500
_LEAST = 5  # samples that are split


class _Nodes:
    """The attributes of TreeEnsembleClassifier, node by node."""

    def __init__(self):
        self.nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes",
                                            "truenodeids", "falsenodeids")}
        self.leaves = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}

    def add(self, *entries):
        for values, entry in zip(self.nodes.values(), entries):
            values.append(entry)

    def add_leaf(self, tree, node, weights):
        self.add(tree, node, 0, 0.0, "LEAF", 0, 0)
        for label, weight in enumerate(weights):
            for values, entry in zip(self.leaves.values(), (tree, node, label, float(weight))):
                values.append(entry)


def _grow(result, tree, samples, labels, random):
    """Numbers the nodes in the order of their depth, the left child first."""
    pending = [(np.arange(len(samples)), 0)]
    count = 1
    for node, (chosen, depth) in enumerate(pending):
        feature = int(random.integers(_FEATURES))
        features = samples[chosen, feature]
        first, second = features[random.integers(len(chosen), size=2)]
        threshold = (first + second) / np.float32(2)
        goes_left = features <= threshold
        if depth == _DEPTH or len(chosen) < _LEAST or goes_left.all():
            share = np.bincount(labels[chosen], minlength=_CLASSES) / (len(chosen) * _TREES)
            result.add_leaf(tree, node, share)
            continue
        result.add(tree, node, feature, float(threshold), "BRANCH_LEQ", count, count + 1)
        count += 2
        pending += [(chosen[goes_left], depth + 1), (chosen[~goes_left], depth + 1)]


def random_forest():
    random = np.random.Generator(np.random.PCG64(29))
    samples = random.standard_normal((_SAMPLES, _FEATURES), dtype=np.float32)
    weights = random.standard_normal((_FEATURES, _CLASSES), dtype=np.float32)
    labels = (samples @ weights + random.standard_normal((_SAMPLES, _CLASSES)) * 2).argmax(1)
    result = _Nodes()
    for tree in range(_TREES):
        _grow(result, tree, samples, labels, random)
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "probabilities"], name="forest",
        domain="ai.onnx.ml", classlabels_int64s=list(range(_CLASSES)), post_transform="NONE",
        **{f"nodes_{name}": values for name, values in result.nodes.items()},
        **{f"class_{name}": values for name, values in result.leaves.items()})
    graph = helper.make_graph(
        [node], "random_forest",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", _FEATURES])],
        [helper.make_tensor_value_info("label", TensorProto.INT64, ["n"]),
         helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["n", _CLASSES])])
    model = helper.make_model(graph, producer_name="scopevm-models",
                              opset_imports=[helper.make_opsetid("", 17),
                                             helper.make_opsetid("ai.onnx.ml", 3)])
    model.ir_version = 8
    return model
