#!/usr/bin/python3
"""Checks the errors of invalid nodes of com.microsoft and ai.onnx.ml, and of new standard ones.

    check_errors.py SCOPEVM_IMPORT [--update] [--cases N]

Changes valid nodes of each operator: attributes that are missing, have extreme numbers, another
length or another type, and inputs that are missing or have another element type, another rank, or
dims that are 0, symbols or huge. The opset of standard nodes changes, too. Each change must lead
to an error or to a valid graph. A crash or an internal error is a failure. One message of each kind
must be in messages.txt, which --update writes. With more cases than 1 for each operator, only
crashes and internal errors are failures.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "onnx_cases"))

import numpy as np  # noqa: E402
import onnx_file  # noqa: E402
import case_file  # noqa: E402
import operators  # noqa: E402
import microsoft  # noqa: E402, F401
import ml  # noqa: E402, F401
import standard  # noqa: E402
import training  # noqa: E402, F401
from operators import ML  # noqa: E402

_LARGE, _LARGEST = 1 << 40, (1 << 63) - 1


def _other_values(value):
    """Invalid or extreme values of an attribute."""
    if isinstance(value, bool) or isinstance(value, int):
        return [-1, 0, 3, 1000, _LARGE, -_LARGE, _LARGEST, ~_LARGEST, 0.5, "a", [1]]
    if isinstance(value, float):
        return [-1.0, float("nan"), float("inf"), 1e-45, 3, "a"]
    if isinstance(value, onnx_file.Graph):
        graphs = [standard.modifier(count=0), standard.modifier(count=2),
                  standard.modifier(operand="missing"), standard.modifier(op="Shape"),
                  standard.modifier(op="ReduceSum"), standard.modifier(op="Unknown")]
        return [*graphs, 1]
    if isinstance(value, onnx_file.Tensor):
        arrays = [np.zeros(0, np.float32), np.array(["a"], object), np.array(9.0)]
        return [*map(onnx_file.tensor, arrays), 1]
    if isinstance(value, str):
        return ["unknown", "", 1]
    if not value:
        return []
    changed = [value[:-1], [*value, value[0]], 1]
    if isinstance(value[0], int):
        changed += [[-1, *value[1:]], [_LARGE, *value[1:]], [1] * len(value)]
    if isinstance(value[0], str):
        changed += [["unknown"] * len(value)]
    return [entry for entry in changed if entry != []]


def _other_arrays(array):
    """Values of an input with another element type or shape."""
    types = [np.float32, np.int64, np.uint8, np.float64]
    if array.dtype == object:
        changed = [np.zeros(array.shape, np.float32)]
    else:
        changed = [array.astype(to) for to in types if array.dtype != to][:2]
        changed.append(np.full(array.shape, "a", object))
    first = array.reshape(-1)[:1]
    changed += [first.reshape(()), first, array[None], array[None, None, None]]
    if array.ndim:
        changed += [np.concatenate([array, array], axis) for axis in range(array.ndim)]
        changed.append(array[..., :0])
    return changed


def _variants(case):
    """(inputs, attributes) of the case with one change each."""
    for name, value in case.attributes.items():
        rest = {key: other for key, other in case.attributes.items() if key != name}
        yield case.inputs, rest
        for other in _other_values(value):
            yield case.inputs, {**rest, name: other}
    yield case.inputs, {**case.attributes, "unknown_attribute": 1}
    for name, array in case.inputs.items():
        if array is None:
            continue
        yield {**case.inputs, name: None}, case.attributes
        for other in _other_arrays(np.asarray(array)):
            yield {**case.inputs, name: other}, case.attributes


# Element types: undefined, COMPLEX64, BFLOAT16, FLOAT8E4M3FN, INT4, FLOAT8E8M0 and an unknown one.
_DECLARED_TYPES = (0, 14, 16, 17, 22, 24, 99)
_OPSETS = (0, 1, 13, 18, 21, 22, 23, 24, 25, 26, 27, 28, _LARGEST)


def _declared(case):
    """Changes of the declared types of inputs: a ValueInfoProto by name."""
    inputs = {key: np.asarray(array) for key, array in case.inputs.items()
              if array is not None and key not in case.constants}
    for name, array in inputs.items():
        usual = onnx_file.tensor_type(array)
        alike = [key for key, other in inputs.items() if other.dtype == array.dtype]
        for to in _DECLARED_TYPES:
            yield {name: onnx_file.value_info(name, to, array.shape)}
            if name == alike[0] and len(alike) > 1:
                yield {key: onnx_file.value_info(key, to, inputs[key].shape) for key in alike}
        symbols = [f"{name}_{axis}" for axis in range(array.ndim)]
        for dims in (None, symbols, ["n"] * array.ndim, [_LARGE] * array.ndim,
                     [_LARGEST] * array.ndim, [-1] * array.ndim, [0] * array.ndim):
            yield {name: onnx_file.value_info(name, usual, dims)}
        for axis in range(array.ndim):
            for dim in (0, _LARGE, "n"):
                dims = [*array.shape[:axis], dim, *array.shape[axis + 1:]]
                yield {name: onnx_file.value_info(name, usual, dims)}
        yield {name: onnx_file.value_info(name)}
    yield {key: onnx_file.value_info(key, onnx_file.tensor_type(array),
                                     [f"{key}_{axis}" for axis in range(array.ndim)])
           for key, array in inputs.items()}


# Further changes of case 0 by operator: attributes, and inputs. An input is added, or None.
_F, _I = np.zeros((1, 1), np.float32), np.ones(1, np.int32)
_WINDOWED = {"sliding_window_cache": 1, "local_window_size": 4}
_QUANTISED = {"k_quant_type": "PER_TENSOR", "kv_cache_bit_width": 8}
_CACHES = {f"past_{x}": np.zeros((1, 1, 3, 8), np.float32) for x in "kv"}
_GROUP_QUERY = [
    ({**_WINDOWED, "local_window_size": 0}, {}), (_WINDOWED, {"past_k": None, "past_v": None}),
    ({**_WINDOWED, "qk_output": 1}, _CACHES), (_WINDOWED, _CACHES),
    (_WINDOWED, {"past_k": np.zeros(3, np.float32), "past_v": _F}),
    ({}, {"q_norm": np.zeros(8, np.float32)}), (_QUANTISED, {"k_scale": _F.astype(np.float64)}),
    (_QUANTISED, {"k_scale": np.zeros(3, np.float32)}),
    (_QUANTISED, {"k_scale": _F, "past_k": _CACHES["past_k"], "past_v": _CACHES["past_v"]}),
    (_QUANTISED, {"k_scale": _F, "past_k": np.zeros((1, 1, 3, 8), onnx_file.FLOAT8E4M3FN)}),
    ({**_QUANTISED, "k_quant_type": "PER_HEAD"}, {"k_scale": _F}),
    ({**_QUANTISED, "kv_cache_bit_width": 2}, {"k_scale": _F}),
    ({**_QUANTISED, "kv_cache_bit_width": 4, "sliding_window_cache": 0, "num_heads": 1,
      "kv_num_heads": 1},
     {"k_scale": _F, "lengths": np.zeros(1, np.int32), "past_k": None, "past_v": None,
      **{x: np.zeros((1, 1, 3), np.float32) for x in "qkv"}}),
    ({}, {"k": np.zeros((2, 1, 64), np.float32)})]
_MORE = {
    "Attention": [({"do_rotary": 1}, {}), ({"past_present_share_buffer": 1}, {}),
                  ({"qkv_hidden_sizes": [4]}, {}), ({}, {"past_length": _I})],
    "CausalConvWithState": [({"state_window": 2}, {"state": np.zeros((), np.float32)}),
                            ({"ndim": 2, "channels_last": 1}, {}),
                            *(({"ndim": 2, "channels_last": 0},
                               {"x": np.zeros((1, 2, 4, 4), np.float32),
                                "w": np.zeros((2, *shape), np.float32), "bias": None,
                                "state": None})
                              for shape in ((1, 2, 3), (1, 3)))],
    "GatherBlockQuantized": [({"bits": 8, "gather_axis": 1}, {}),
                             ({"gather_axis": 1}, {"data": np.zeros((8, 32), np.uint8)}),
                             ({}, {"data": np.zeros((8, 32), onnx_file.FLOAT8E4M3FN)})],
    "GroupQueryAttention": _GROUP_QUERY,
    "LinearClassifier": [({"classlabels_ints": [0, 1], "classlabels_strings": [],
                           "coefficients": [1.0], "intercepts": [0.5],
                           "post_transform": "PROBIT"}, {})],
    "MatMulBnb4": [({"transB": 0}, {}), ({"training_mode": 1}, {})],
    "MatMulNBits": [({"weight_prepacked": 1}, {})],
    "MoE": [({"activation_type": "swiglu", "swiglu_fusion": 0}, {})],
    "Momentum": [({}, {"more": _F})],
    "MultiHeadAttention": [({}, {"past_length": _I}), ({}, {"past_length": None, "cache": _I}),
                           ({}, {"past_k": np.zeros((1, 1, 1, 1), np.float32)}),
                           ({}, {"q": np.zeros((1, 1, 1, 2, 1), np.float32), "k": None,
                                 "v": None})],
    "QLinearConcat": [({}, {"more": _F})],
    "QMoE": [({"quant_type": "fp4"}, {}), ({"weights_prepacked": 1}, {})],
    "RotaryEmbedding": [({"scale": 2.0}, {}),
                        ({"rotary_embedding_dim": 8, "num_heads": 0},
                         {"x": np.zeros((1, 1, 8), np.float32)})],
    "SVMClassifier": [({"vectors_per_class": [], "classlabels_ints": [0, 1],
                        "classlabels_strings": [], "coefficients": [1.0, 2.0, 3.0]}, {}),
                      ({"vectors_per_class": [1, 1], "classlabels_ints": [0, 1],
                        "classlabels_strings": [], "coefficients": [1.0, 2.0], "rho": [0.5],
                        "support_vectors": [0.25, 0.5], "prob_a": [], "prob_b": [],
                        "post_transform": "PROBIT"}, {"x": np.zeros((1, 1), np.float32)})],
    "TreeEnsembleClassifier": [({"classlabels_int64s": [0, 1], "classlabels_strings": [],
                                 "class_ids": [0], "class_treeids": [0], "class_nodeids": [0],
                                 "class_weights": [1.0], "post_transform": "PROBIT"}, {})],
}


def _dict_vectorizer():
    node = onnx_file.node("DictVectorizer", ["x"], ["y"], ML, string_vocabulary=["a"])
    graph = onnx_file.graph([node], "invalid", [onnx_file.value_info("x", 1, [1])],
                            [onnx_file.value_info("y")])
    return onnx_file.model(graph, 17, 8, "check_errors.py", {ML: 1})


def _model(op, case, inputs, attributes, declared=None, opset=17):
    arrays = {key: np.asarray(value) for key, value in inputs.items() if value is not None}
    constants = [key for key in arrays if key in case.constants]
    order = [key if value is not None else "" for key, value in inputs.items()]
    results = ["" if value is None else f"y{i}" for i, value in enumerate(case.results)]
    node = onnx_file.node(op.name, order, results, op.domain, **attributes)
    types = {key: case_file.value_info(key, array, {}) for key, array in arrays.items()
             if key not in constants} | (declared or {})
    graph = onnx_file.graph([node], "invalid", types.values(),
                            [onnx_file.value_info(name) for name in results if name],
                            [onnx_file.tensor(arrays[key], key) for key in constants])
    return onnx_file.model(graph, opset, 8, "check_errors.py",
                           {op.domain: op.version} if op.domain else None)


def _models_of(op, index):
    """The models of one case of an operator."""
    case = op.generate(operators.Draw(f"{op.domain} {op.name} {op.version} {index}"))
    opset = 17 if op.domain else max(17, op.version)
    for inputs, attributes in _variants(case):
        yield _model(op, case, inputs, attributes, opset=opset)
    for declared in _declared(case):
        yield _model(op, case, case.inputs, case.attributes, declared, opset)
    if not op.domain:
        for other in _OPSETS:
            yield _model(op, case, case.inputs, case.attributes, opset=other)
    if index == 0:
        for attributes, inputs in _MORE.get(op.name, []) if op.domain else []:
            merged = {**case.attributes, **attributes}
            yield _model(op, case, {**case.inputs, **inputs},
                         {key: value for key, value in merged.items() if value != []})


def _models(count):
    for op in operators.table():
        for index in range(count):
            yield from ((op, model) for model in _models_of(op, index))
    for op in standard.nodes():
        yield from ((op, model) for model in _models_of(op, 0))
    yield operators.table()[0], _dict_vectorizer()


def _run(program, folder, files):
    """The messages of the files. The next process continues after a crash."""
    messages = []
    while len(messages) < len(files):
        done = subprocess.run([program, "--errors", *files[len(messages):][:500]], cwd=folder,
                              stdout=subprocess.PIPE, text=True)
        messages += done.stdout.splitlines()
        if done.returncode != 0:
            messages.append(f"crash with exit code {done.returncode}")
    return messages


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--cases", type=int, default=1)
    options = parser.parse_args()
    models = list(_models(options.cases))
    failures, lines = [], {}
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{i}.onnx" for i in range(len(models))]
        for name, (_, model) in zip(files, models):
            (pathlib.Path(folder) / name).write_bytes(model)
        messages = _run(options.program.resolve(), folder, files)
        for (op, model), message in zip(models, messages):
            if re.search("crash|internal|cannot be simplified", message):
                kept = pathlib.Path(tempfile.gettempdir(), f"{op.name}_{len(failures)}.onnx")
                kept.write_bytes(model)
                failures.append(f"{op.name}: {message}; the model is {kept}")
            elif message != "ok":
                text = re.sub(r'^[^"]*node "[^"]*" \([^)]*\): |^\d+\.onnx: ', "", message)
                # The messages of one kind differ in types, numbers and names.
                kind = re.sub(r'"[^"]*"|-?[\d.]+|\b[a-z]+\d*\[[^]]*\]', "#", text)
                lines[kind] = min(text, lines.get(kind, text))
    print(f"{len(models)} models, {len(lines)} messages")
    expected = HERE / "messages.txt"
    if options.update:
        expected.write_text("".join(f"{line}\n" for line in sorted(lines.values())))
    elif options.cases == 1:
        found, wanted = set(lines.values()), set(expected.read_text().splitlines())
        failures += [f"new message: {line}" for line in sorted(found - wanted)]
        failures += [f"missing message: {line}" for line in sorted(wanted - found)]
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
