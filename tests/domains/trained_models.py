#!/usr/bin/python3
"""Compares compiled models of scikit-learn and XGBoost with the predictions of these libraries.

    trained_models.py BIN_FOLDER

Trains small models with fixed seeds, writes them as ONNX models, and runs `scopevm compile` and
`scopevm run`. Needs Debian's python3-sklearn and python3-xgboost. Prints the number of models that
agree, and of those that a missing library skips.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "onnx_cases"))

import numpy as np  # noqa: E402
import onnx_file  # noqa: E402

_TOLERANCE = 1e-5


class Trees:
    """The attributes of TreeEnsemble*, collected node by node. `prefix` is class or target."""

    def __init__(self, prefix):
        self._prefix = prefix
        self._nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes",
                                             "truenodeids", "falsenodeids",
                                             "missing_value_tracks_true")}
        self._leaves = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}

    def _add(self, *entries):
        for values, entry in zip(self._nodes.values(), entries):
            values.append(entry)

    def branch(self, tree, node, feature, threshold, mode, yes, no, takes_nan=0):
        self._add(tree, node, int(feature), float(threshold), mode, int(yes), int(no), takes_nan)

    def leaf(self, tree, node, weights):
        self._add(tree, node, 0, 0.0, "LEAF", 0, 0, 0)
        for column, weight in weights:
            for values, entry in zip(self._leaves.values(), (tree, node, column, float(weight))):
                values.append(entry)

    def attributes(self):
        return {**{f"nodes_{name}": values for name, values in self._nodes.items()},
                **{f"{self._prefix}_{name}": values for name, values in self._leaves.items()}}


def _add_sklearn_tree(trees, index, tree, weights_of):
    for node in range(tree.node_count):
        if tree.children_left[node] < 0:
            trees.leaf(index, node, weights_of(tree.value[node]))
            continue
        # The elements are f32, so the comparison with the greatest f32 up to the f64 threshold has
        # the same result.
        threshold = np.float32(tree.threshold[node])
        if threshold > tree.threshold[node]:
            threshold = np.nextafter(threshold, np.float32(-np.inf))
        trees.branch(index, node, tree.feature[node], threshold, "BRANCH_LEQ",
                     tree.children_left[node], tree.children_right[node])


def _add_xgboost_tree(trees, index, node, column):
    if "leaf" in node:
        trees.leaf(index, node["nodeid"], [(column, node["leaf"])])
        return
    trees.branch(index, node["nodeid"], int(node["split"][1:]), node["split_condition"],
                 "BRANCH_LT", node["yes"], node["no"], int(node["missing"] == node["yes"]))
    for child in node["children"]:
        _add_xgboost_tree(trees, index, child, column)


def _data(count=300, columns=6, classes=3):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(count, columns)).astype(np.float32)
    w = rng.normal(size=(columns, classes))
    return x, (x @ w + rng.normal(size=(count, classes)) / 3).argmax(1), (x**2 @ w)[:, 0]


def _forests():
    from sklearn import ensemble, tree
    x, labels, numbers = _data()
    for model in (ensemble.RandomForestClassifier(20, max_depth=8, random_state=1),
                  ensemble.ExtraTreesClassifier(10, random_state=1),
                  tree.DecisionTreeClassifier(random_state=1)):
        model.fit(x, labels)
        members = [m.tree_ for m in getattr(model, "estimators_", [model])]
        trees = Trees("class")
        for index, member in enumerate(members):
            _add_sklearn_tree(trees, index, member, lambda value: list(
                enumerate(value[0] / value[0].sum() / len(members))))
        yield (type(model).__name__, "TreeEnsembleClassifier",
               {**trees.attributes(), "classlabels_int64s": [0, 1, 2]}, x,
               [model.predict(x), model.predict_proba(x)])
    for model in (ensemble.RandomForestRegressor(20, max_depth=8, random_state=1),
                  ensemble.GradientBoostingRegressor(n_estimators=30, random_state=1)):
        model.fit(x, numbers)
        members = [m.tree_ for m in np.ravel(model.estimators_)]
        is_boosted = hasattr(model, "learning_rate")
        factor = model.learning_rate if is_boosted else 1 / len(members)
        trees = Trees("target")
        for index, member in enumerate(members):
            _add_sklearn_tree(trees, index, member,
                              lambda value: [(0, value[0][0] * factor)])
        base = [float(model.init_.constant_[0][0])] if is_boosted else [0.0]
        yield (type(model).__name__, "TreeEnsembleRegressor",
               {**trees.attributes(), "n_targets": 1, "base_values": base}, x,
               [model.predict(x)[:, None]])


def _linear():
    from sklearn import linear_model, svm
    x, labels, numbers = _data()
    model = linear_model.LogisticRegression(max_iter=1000).fit(x, labels)
    yield ("LogisticRegression", "LinearClassifier",
           {"coefficients": model.coef_.ravel().tolist(), "intercepts": model.intercept_.tolist(),
            "classlabels_ints": [0, 1, 2], "post_transform": "SOFTMAX"}, x,
           [model.predict(x), model.predict_proba(x)])
    model = linear_model.LinearRegression().fit(x, numbers)
    yield ("LinearRegression", "LinearRegressor",
           {"coefficients": model.coef_.tolist(), "intercepts": [float(model.intercept_)]}, x,
           [model.predict(x)[:, None]])
    model = svm.SVC(probability=True, random_state=1).fit(x, labels)
    yield ("SVC", "SVMClassifier",
           {"kernel_type": "RBF", "kernel_params": [float(model._gamma), 0.0, 3.0],
            "coefficients": model.dual_coef_.ravel().tolist(),
            "support_vectors": model.support_vectors_.ravel().tolist(),
            "vectors_per_class": model.n_support_.tolist(), "rho": model.intercept_.tolist(),
            "prob_a": model.probA_.tolist(), "prob_b": model.probB_.tolist(),
            "classlabels_ints": [0, 1, 2]}, x, [None, model.predict_proba(x)])
    model = svm.SVR().fit(x, numbers)
    yield ("SVR", "SVMRegressor",
           {"kernel_type": "RBF", "kernel_params": [float(model._gamma), 0.0, 3.0],
            "coefficients": model.dual_coef_.ravel().tolist(), "n_supports": len(model.support_),
            "support_vectors": model.support_vectors_.ravel().tolist(),
            "rho": model.intercept_.tolist()}, x, [model.predict(x)[:, None]])


def _boosted():
    import xgboost
    x, labels, numbers = _data()
    x[np.random.default_rng(1).random(x.shape) < 0.1] = np.nan
    for model, count, kind in ((xgboost.XGBClassifier(n_estimators=10, max_depth=4), 3, "class"),
                               (xgboost.XGBRegressor(n_estimators=20, max_depth=5), 1, "target")):
        model.fit(x, labels if kind == "class" else numbers)
        trees = Trees(kind)
        for index, text in enumerate(model.get_booster().get_dump(dump_format="json")):
            _add_xgboost_tree(trees, index, json.loads(text), index % count)
        attributes = trees.attributes()
        attributes["base_values"] = [0.5] * count
        if kind == "class":
            attributes.update(classlabels_int64s=[0, 1, 2], post_transform="SOFTMAX")
            yield ("XGBClassifier", "TreeEnsembleClassifier", attributes, x,
                   [model.predict(x), model.predict_proba(x)])
        else:
            attributes["n_targets"] = 1
            yield ("XGBRegressor", "TreeEnsembleRegressor", attributes, x,
                   [model.predict(x)[:, None]])


def _difference(bin_folder, folder, name, op, attributes, x, expected):
    """The largest difference of a result from `expected`, in relation to its size."""
    outputs = [f"y{i}" for i in range(len(expected))]
    graph = onnx_file.graph(
        [onnx_file.node(op, ["x"], outputs, "ai.onnx.ml", **attributes)], name,
        [onnx_file.value_info("x", onnx_file.FLOAT, ["n", x.shape[1]])],
        [onnx_file.value_info(output) for output in outputs])
    (folder / "model.onnx").write_bytes(
        onnx_file.model(graph, 17, 8, "trained_models.py", {"ai.onnx.ml": 3}))
    np.save(folder / "x.npy", x)
    subprocess.run([bin_folder / "scopevm", "compile", "model.onnx", "-o", "model.bc"], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    command = [bin_folder / "scopevm", "run", "model.bc", "--input", "x=x.npy"]
    for output in outputs:
        command += ["--output", f"{output}={output}.npy"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    worst = 0.0
    for output, wanted in zip(outputs, expected):
        if wanted is None:
            continue
        found = np.load(folder / f"{output}.npy")
        if found.shape != wanted.shape:
            return float("inf")
        worst = max(worst, np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))
    return worst


def main():
    bin_folder = pathlib.Path(sys.argv[1]).resolve()
    failures, agreeing, skipped = [], 0, []
    for group, package in ((_forests, "python3-sklearn"), (_linear, "python3-sklearn"),
                           (_boosted, "python3-xgboost")):
        try:
            models = list(group())
        except ImportError:
            skipped.append(package)
            continue
        for name, *model in models:
            with tempfile.TemporaryDirectory() as folder:
                worst = _difference(bin_folder, pathlib.Path(folder), name, *model)
            print(f"{name}: {worst:.1e}")
            if worst <= _TOLERANCE:
                agreeing += 1
            else:
                failures.append(name)
    print(f"{agreeing} models agree, {len(failures)} differ; {len(skipped)} of 3 groups skipped: "
          f"{' and '.join(sorted(set(skipped))) or 'no package'} is missing")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
