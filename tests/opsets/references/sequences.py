"""Cases of sequence ops. Most lengths and positions are unknown at compile time."""
import numpy as np

import onnx_file
from case_file import case, cases, reals


def _parts(name):
    return [reals(name + str(rows), rows, 3) for rows in (2, 0, 5, 1)]


def _concatenations():
    parts = _parts("concat")
    case("concat_from_sequence_rows", 17, "ConcatFromSequence", {"xs": parts},
         [np.concatenate(parts)], axis=0)
    turned = [part.T.copy() for part in parts]
    case("concat_from_sequence_columns", 17, "ConcatFromSequence", {"xs": turned},
         [np.concatenate(turned, axis=1)], axis=-1)
    alike = [reals("stack" + str(i), 2, 3) for i in range(5)]
    for axis in (0, 1, -1):
        case(f"concat_from_sequence_stack_{axis % 3}", 17, "ConcatFromSequence", {"xs": alike},
             [np.stack(alike, axis=axis)], axis=axis, new_axis=1)


def _splits():
    x = reals("split", 7, 4)
    rows = [x[i:i + 1] for i in range(7)]
    cases("split_to_sequence_rows", 17, "SplitToSequence", {"x": x}, [rows])
    cases("split_to_sequence_no_dim", 17, "SplitToSequence", {"x": x}, [[x[i] for i in range(7)]],
         keepdims=0)
    pairs = [x[:, 0:3], x[:, 3:4]]
    cases("split_to_sequence_number", 17, "SplitToSequence", {"x": x}, [pairs],
         {"split": np.int64(3)}, axis=1)
    case("split_to_sequence_given_number", 17, "SplitToSequence",
         {"x": x, "split": np.int64(2)}, [[x[i:i + 2] for i in range(0, 7, 2)]])
    sizes = np.array([2, 0, 4, 1], dtype=np.int64)
    listed = np.split(x, np.cumsum(sizes)[:-1])
    cases("split_to_sequence_given_list", 17, "SplitToSequence", {"x": x, "split": sizes},
         [[part.copy() for part in listed]])


def _positions():
    parts, x = _parts("at"), reals("insert", 1, 3)
    for at in (-4, -1, 0, 3):
        index = np.int64(at)
        case(f"sequence_at_{at % 4}_{'end' if at < 0 else 'start'}", 17, "SequenceAt",
             {"xs": parts, "at": index}, [parts[at]])
    rest = parts[:-2] + parts[-1:]
    case("sequence_erase_given", 17, "SequenceErase", {"xs": parts, "at": np.int64(-2)}, [rest])
    case("sequence_erase_last", 17, "SequenceErase", {"xs": parts}, [parts[:-1]])
    case("sequence_insert_given", 17, "SequenceInsert",
         {"xs": parts, "x": x, "at": np.int64(-1)}, [parts[:-1] + [x] + parts[-1:]])
    case("sequence_insert_after_last", 17, "SequenceInsert",
         {"xs": parts, "x": x, "at": np.int64(4)}, [parts + [x]])
    case("sequence_length", 17, "SequenceLength", {"xs": parts}, [np.int64(4)])


def _maps():
    parts, scale = _parts("map"), reals("scale", 3)
    info = onnx_file.value_info
    body = onnx_file.graph(
        [onnx_file.node("Mul", ["part", "factor"], ["product"]),
         onnx_file.node("Shape", ["product"], ["dims"])], "body",
        [info("part", onnx_file.FLOAT), info("factor", onnx_file.FLOAT)],
        [info("product", onnx_file.FLOAT), info("dims", onnx_file.INT64)])
    case("sequence_map_two_results", 17, "SequenceMap", {"xs": parts, "scale": scale},
         [[part * scale for part in parts], [np.array(part.shape) for part in parts]], body=body)


def write_cases():
    _concatenations()
    _splits()
    _positions()
    _maps()
