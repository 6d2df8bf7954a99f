"""Writes ONNX models with inputs and expected results, in the form of ONNX's conformance cases:
a folder with model.onnx and test_data_set_0/{input,output}_N.pb for each case.

A generator is a program of main(): it writes its cases into the folder of its command line and
the checksum of each case into FOLDER.sum.
"""
import hashlib
import pathlib
import shutil
import sys
import zlib

import numpy as np

import onnx_file

_IR_VERSIONS = {18: 8, 19: 9, 20: 9, 21: 10, 22: 10}
_folder = None
_checksums = {}


def main(write_cases):
    """Runs write_cases for the output folder on the command line."""
    global _folder
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} OUTPUT_FOLDER")
    _folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(_folder, ignore_errors=True)
    write_cases()
    lines = (f"{checksum}  {name}\n" for name, checksum in sorted(_checksums.items()))
    _folder.with_name(_folder.name + ".sum").write_text("".join(lines))


def rng(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def reals(name, *shape):
    """float32 in [-2, 2), the same for the same name."""
    return rng(name).uniform(-2, 2, shape).astype(np.float32)


def integers(name, low, high, *shape, dtype=np.int64):
    return rng(name).integers(low, high, shape).astype(dtype)


def dim_names(arrays, keep_last=False, separator=""):
    """A name for each dim of the arrays, by array and axis; keep_last: not for the last dims."""
    return {(key, axis): f"{key}{separator}{axis}" for key, array in arrays.items()
            if not isinstance(array, list) for axis in range(array.ndim - keep_last)}


def value_info(name, array, names):
    """The type of an array, or of a sequence, whose elements must have one rank."""
    if isinstance(array, list):
        first = array[0]
        return onnx_file.value_info(name, onnx_file.tensor_type(first), [None] * first.ndim,
                                    is_sequence=True)
    dims = [names.get((name, axis), dim) for axis, dim in enumerate(array.shape)]
    return onnx_file.value_info(name, onnx_file.tensor_type(array), dims)


def _value(array):
    return array if isinstance(array, list) else np.asarray(array)


def case(name, opset, op, inputs, outputs, constants=None, order=None, dynamic=False,
         keep_last=False, **attributes):
    """One node `op`. `inputs` and `constants` are arrays by name, in the order of the node's inputs
    unless `order` is given ("" for an absent input); a list of arrays is a sequence. dynamic: every
    dim of every input (keep_last: except the last one) gets a name of its own instead of its size,
    and the results have no type."""
    constants = constants or {}
    inputs = {key: _value(array) for key, array in inputs.items()}
    results = {f"y{i}": _value(array) for i, array in enumerate(outputs)}
    names = dim_names(inputs, keep_last) if dynamic else {}
    operands = order if order is not None else [*inputs, *constants]
    graph_case(
        f"{name}_{opset}", opset, [onnx_file.node(op, operands, results, **attributes)],
        inputs, results, constants,
        [value_info(key, array, names) for key, array in inputs.items()],
        [onnx_file.value_info(key) if dynamic else value_info(key, array, {})
         for key, array in results.items()], title=name)


def both(name, *args, **kwargs):
    """The case with its sizes in the model, and once more with names for them."""
    case(name, *args, **kwargs)
    case(f"{name}_dynamic", *args, dynamic=True, **kwargs)


def graph_case(name, opset, nodes, inputs, results, constants, input_types, result_types,
               title=None, ir_version=None, producer="make_cases.py"):
    """A graph of encoded nodes: inputs, expected results and constants are arrays by name; the
    types are encoded value infos."""
    assert name not in _checksums, name
    graph = onnx_file.graph(
        nodes, title or name, input_types, result_types,
        [onnx_file.tensor(array, key) for key, array in constants.items()])
    model = onnx_file.model(graph, opset, ir_version or _IR_VERSIONS.get(opset, 8), producer)
    files = {"model.onnx": model}
    for stem, arrays in (("input", inputs), ("output", results)):
        for i, (key, array) in enumerate(arrays.items()):
            encoded = (onnx_file.sequence(array) if isinstance(array, list)
                       else onnx_file.tensor(array, key))
            files[f"test_data_set_0/{stem}_{i}.pb"] = encoded
    checksum = hashlib.sha256()
    (_folder / name / "test_data_set_0").mkdir(parents=True)
    for path, content in files.items():
        checksum.update(b"%s %d\n" % (path.encode(), len(content)) + content)
        (_folder / name / path).write_bytes(content)
    _checksums[name] = checksum.hexdigest()[:16]
