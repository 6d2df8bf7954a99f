"""Writes ONNX models with inputs and expected results, in the form of ONNX's conformance cases:
a folder with model.onnx and test_data_set_0/{input,output}_N.pb for each case. Further data sets
are further calls.

A generator is a script that calls main(). It writes its cases into the folder that its command line
names, and the checksums of the cases into FOLDER.sum.
"""
import hashlib
import pathlib
import shutil
import sys
import zlib

import numpy as np

import onnx_file

_IR_VERSIONS = {18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13, 26: 13, 27: 13}
_folder = None
_checksums = {}


def main(write_cases):
    """Replaces the output folder on the command line by the cases that write_cases() writes."""
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
    """Random float32 values in [-2, 2). Equal names and shapes give equal values."""
    return rng(name).uniform(-2, 2, shape).astype(np.float32)


def integers(name, low, high, *shape, dtype=np.int64):
    return rng(name).integers(low, high, shape).astype(dtype)


def dim_names(arrays, keep_last=False, separator=""):
    """A symbol for each dim of the arrays, by array name and axis. With keep_last, the last dim of
    each array has no symbol."""
    return {(key, axis): f"{key}{separator}{axis}" for key, array in arrays.items()
            if not isinstance(array, list) for axis in range(array.ndim - keep_last)}


def value_info(name, array, names):
    """The ValueInfoProto of an array or a sequence. The elements of a sequence must have the same
    rank."""
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
    """Writes a case of one node. `inputs` and `constants` are arrays by name, in the order of the
    node's inputs. `order`, if given, replaces that order ("" for an absent input). A list of arrays
    is a sequence. With `dynamic`, each dim of each input is a distinct symbol instead of a number,
    and the results have no type. With `keep_last`, the last dim of each input stays a number."""
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


def cases(name, *args, **kwargs):
    """Writes the case with symbols as the dims of the inputs and, for a third of the names, also
    with numbers. The public conformance data has numbers in all cases."""
    if zlib.crc32(name.encode()) % 3 == 0:
        case(name, *args, **kwargs)
    case(f"{name}_dynamic", *args, dynamic=True, **kwargs)


def graph_case(name, opset, nodes, inputs, results, constants, input_types, result_types,
               title=None, ir_version=None, producer="make_cases.py", domains=None,
               more_calls=()):
    """Writes a case of a graph. `nodes` are encoded NodeProtos. `inputs`, `results` (the expected
    ones) and `constants` are arrays by name. The types are encoded ValueInfoProtos. `domains` has
    the versions of domains other than the standard one. `more_calls` are further pairs of inputs
    and results."""
    assert name not in _checksums, name
    graph = onnx_file.graph(
        nodes, title or name, input_types, result_types,
        [onnx_file.tensor(array, key) for key, array in constants.items()])
    model = onnx_file.model(graph, opset, ir_version or _IR_VERSIONS.get(opset, 8), producer,
                            domains)
    files = {"model.onnx": model}
    for call, values in enumerate([(inputs, results), *more_calls]):
        for stem, arrays in zip(("input", "output"), values):
            for i, (key, array) in enumerate(arrays.items()):
                encoded = (onnx_file.sequence(array) if isinstance(array, list)
                           else onnx_file.tensor(array, key))
                files[f"test_data_set_{call}/{stem}_{i}.pb"] = encoded
    checksum = hashlib.sha256()
    for call in range(1 + len(more_calls)):
        (_folder / name / f"test_data_set_{call}").mkdir(parents=True)
    for path, content in files.items():
        checksum.update(b"%s %d\n" % (path.encode(), len(content)) + content)
        (_folder / name / path).write_bytes(content)
    _checksums[name] = checksum.hexdigest()[:16]
