"""Writes a conformance case: a folder with model.onnx and test_data_set_0/{input,output}_N.pb.

Only protobuf messages are built here; no checker and no shape inference of the onnx package sees
the model, because it need not know the opset.
"""
import pathlib
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CASES = pathlib.Path(__file__).parent / "cases"
_IR_VERSIONS = {18: 8, 19: 9, 20: 9, 21: 10, 22: 10}
_written = set()


def rng(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def reals(name, *shape):
    """float32 in [-2, 2), the same for the same name."""
    return rng(name).uniform(-2, 2, shape).astype(np.float32)


def integers(name, low, high, *shape, dtype=np.int64):
    return rng(name).integers(low, high, shape).astype(dtype)


def _kind(array):
    if hasattr(helper, "np_dtype_to_tensor_dtype"):
        return helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]


def _value_info(name, array, dim_names):
    if isinstance(array, list):  # a sequence, whose elements have one rank
        dims = [None] * array[0].ndim
        return helper.make_tensor_sequence_value_info(name, _kind(array[0]), dims)
    shape = [dim_names.get((name, axis), dim) for axis, dim in enumerate(array.shape)]
    return helper.make_tensor_value_info(name, _kind(array), shape)


def _value(array):
    return array if isinstance(array, list) else np.asarray(array)


def case(name, opset, op, inputs, outputs, constants=None, order=None, dynamic=False,
         keep_last=False, **attributes):
    """One node `op`. `inputs` and `constants` are arrays by name, in the order of the node's inputs
    unless `order` gives that ("" for one that is absent); a list of arrays is a sequence. dynamic: every dim of every input (but
    for the last one: keep_last) gets a name of its own instead of its size."""
    folder = CASES / f"{name}_{opset}"
    assert folder not in _written, folder
    _written.add(folder)
    constants = constants or {}
    inputs = {key: _value(array) for key, array in inputs.items()}
    results = {f"y{i}": _value(array) for i, array in enumerate(outputs)}
    dim_names = {}
    if dynamic:
        dim_names = {(key, axis): f"{key}{axis}" for key, array in inputs.items()
                     if not isinstance(array, list) for axis in range(array.ndim - keep_last)}
    names = order if order is not None else [*inputs, *constants]
    node = helper.make_node(op, names, list(results), **attributes)
    graph = helper.make_graph(
        [node], name,
        [_value_info(key, array, dim_names) for key, array in inputs.items()],
        [helper.make_empty_tensor_value_info(key) if dynamic else _value_info(key, array, {})
         for key, array in results.items()],
        [numpy_helper.from_array(np.asarray(array), key) for key, array in constants.items()])
    model = helper.make_model(graph, producer_name="make_cases.py",
                              opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = _IR_VERSIONS.get(opset, 8)
    _write(folder, model, list(inputs.values()), list(results.values()))


def _write(folder, model, inputs, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    for stem, arrays in (("input", inputs), ("output", outputs)):
        for i, array in enumerate(arrays):
            if isinstance(array, list):
                tensor = numpy_helper.from_list(array)
            else:
                tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape))
            (data / f"{stem}_{i}.pb").write_bytes(tensor.SerializeToString(deterministic=True))


def both(name, *args, **kwargs):
    """The case with its sizes in the model, and once more with names for them."""
    case(name, *args, **kwargs)
    case(f"{name}_dynamic", *args, dynamic=True, **kwargs)
