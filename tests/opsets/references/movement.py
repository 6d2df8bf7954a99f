"""Cases of Pad, Split, CenterCropPad, ScatterElements, ScatterND, Col2Im and ReverseSequence."""
import itertools

import numpy as np

from case_file import case, cases, integers, reals


def _pad():
    x = reals("pad", 2, 3, 4)
    case("pad_axes", 18, "Pad", {"x": x},
         [np.pad(x, ((0, 0), (1, 0), (2, 3)), constant_values=1.5)],
         constants={"pads": np.array([2, 1, 3, 0]), "value": np.float32(1.5),
                    "axes": np.array([-1, 1])})
    case("pad_axes_i32_reflect", 18, "Pad", {"x": x},
         [np.pad(x, ((0, 0), (0, 0), (3, 2)), "reflect")],
         constants={"pads": np.array([3, 2]), "axes": np.array([2], np.int32)},
         order=["x", "pads", "", "axes"], mode="reflect")
    cases("pad_wrap", 19, "Pad", {"x": x}, [np.pad(x, ((0, 0), (1, 2), (3, 1)), "wrap")],
         constants={"pads": np.array([0, 1, 3, 0, 2, 1])}, mode="wrap")
    case("pad_wrap_more_than_once", 19, "Pad", {"x": x[0, 0]}, [np.pad(x[0, 0], (9, 6), "wrap")],
         constants={"pads": np.array([9, 6])}, mode="wrap")
    cases("pad_wrap_and_crop", 19, "Pad", {"x": x},
          [np.pad(x[:, 1:, :-1], ((0, 0), (0, 4), (3, 0)), "wrap")],
          constants={"pads": np.array([0, -1, 3, 0, 4, -1])}, mode="wrap")
    case("pad_edge", 21, "Pad", {"x": x}, [np.pad(x, ((0, 1), (2, 0), (1, 1)), "edge")],
         constants={"pads": np.array([0, 2, 1, 1, 0, 1])}, mode="edge")


def _split():
    x = reals("split", 7, 2)
    cases("split_num_outputs", 18, "Split", {"x": x}, [x[:3], x[3:6], x[6:]], num_outputs=3)
    case("split_num_outputs_even", 18, "Split", {"x": x}, [x[:, :1], x[:, 1:]],
         num_outputs=2, axis=1)
    case("split_sizes", 18, "Split", {"x": x}, [x[:2], x[2:2], x[2:]],
         constants={"split": np.array([2, 0, 5])})


def _center_crop_pad():
    def wanted(x, sizes, axes):
        result = x
        for size, axis in zip(sizes, axes):
            dim = result.shape[axis]
            if size <= dim:
                start = (dim - size) // 2
                result = np.take(result, range(start, start + size), axis)
            else:
                before = (size - dim) // 2
                pads = [(0, 0)] * result.ndim
                pads[axis] = (before, size - dim - before)
                result = np.pad(result, pads)
        return result

    x = reals("centre", 5, 8, 3)
    for name, sizes, axes in (("crop", [2, 5, 3], None), ("pad", [8, 11, 4], None),
                              ("mixed", [9, 3], [-1, 0])):
        attributes = {} if axes is None else {"axes": axes}
        cases(f"center_crop_pad_{name}", 18, "CenterCropPad", {"x": x},
             [wanted(x, sizes, axes or [0, 1, 2])], constants={"shape": np.array(sizes)},
             **attributes)


def _scatter():
    functions = {"max": max, "min": min, "add": lambda a, b: a + b, "mul": lambda a, b: a * b}
    x = reals("scatter", 4, 3)
    index = integers("where", -4, 4, 5, 3)
    updates = reals("updates", 5, 3)
    for name, function in functions.items():
        y = x.copy()
        for i, j in np.ndindex(*index.shape):
            y[index[i, j], j] = function(y[index[i, j], j], updates[i, j])
        case(f"scatter_elements_{name}", 18, "ScatterElements",
             {"x": x, "index": index, "updates": updates}, [y], axis=0, reduction=name)
        y, tuples, rows = x.copy(), integers("tuples", -4, 4, 6, 1), reals("rows", 6, 3)
        for i in range(6):
            for j in range(3):
                y[tuples[i, 0], j] = function(y[tuples[i, 0], j], rows[i, j])
        case(f"scatter_nd_{name}", 18, "ScatterND", {"x": x, "index": tuples, "updates": rows}, [y],
             reduction=name)


def _col2im():
    def wanted(x, image, block, strides, pads, dilations):
        batch, channels = x.shape[0], x.shape[1] // int(np.prod(block))
        rank = len(image)
        padded = np.zeros((batch, channels, *(image[d] + pads[d] + pads[rank + d]
                                              for d in range(rank))))
        steps = [range(0, padded.shape[2 + d] - dilations[d] * (block[d] - 1), strides[d])
                 for d in range(rank)]
        columns = x.reshape(batch, channels, int(np.prod(block)), -1)
        for position, starts in enumerate(itertools.product(*steps)):
            for tap, offsets in enumerate(np.ndindex(*block)):
                at = tuple(s + o * g for s, o, g in zip(starts, offsets, dilations))
                padded[(slice(None), slice(None), *at)] += columns[:, :, tap, position]
        inside = tuple(slice(pads[d], pads[d] + image[d]) for d in range(rank))
        return padded[(slice(None), slice(None), *inside)].astype(np.float32)

    settings = {
        "plain": (2, 3, [5, 5], [1, 5], [1, 1], [0, 0, 0, 0], [1, 1]),
        "strides": (1, 2, [5, 6], [2, 2], [2, 3], [0, 0, 0, 0], [1, 1]),
        "pads": (1, 1, [5, 5], [3, 2], [1, 1], [1, 0, 2, 1], [1, 1]),
        "dilations": (2, 1, [6, 6], [2, 3], [1, 2], [1, 1, 1, 1], [3, 2]),
        "volume": (1, 2, [3, 4, 3], [2, 1, 2], [1, 1, 1], [0, 0, 0, 0, 0, 0], [1, 1, 1]),
        "line": (2, 2, [9], [3], [2], [1, 0], [1]),
    }
    for name, (batch, channels, image, block, strides, pads, dilations) in settings.items():
        rank = len(image)
        spans = [dilations[d] * (block[d] - 1) + 1 for d in range(rank)]
        counts = [(image[d] + pads[d] + pads[rank + d] - spans[d]) // strides[d] + 1
                  for d in range(rank)]
        x = reals(name, batch, channels * int(np.prod(block)), int(np.prod(counts)))
        y = wanted(x, image, block, strides, pads, dilations)
        case(f"col2im_{name}", 18, "Col2Im", {"x": x}, [y],
             constants={"image": np.array(image), "block": np.array(block)}, strides=strides,
             pads=pads, dilations=dilations)
        if name == "pads":
            case("col2im_dynamic", 18, "Col2Im", {"x": x}, [y],
                 constants={"image": np.array(image), "block": np.array(block)}, strides=strides,
                 pads=pads, dilations=dilations, dynamic=True)


def _reverse_sequence():
    x, lengths = reals("reverse", 5, 3, 2), np.array([5, 1, 3])
    y = x.copy()
    for b, length in enumerate(lengths):
        y[:length, b] = x[:length, b][::-1]
    cases("reverse_sequence", 10, "ReverseSequence", {"x": x, "lengths": lengths}, [y])


def write_cases():
    _pad()
    _split()
    _center_crop_pad()
    _scatter()
    _col2im()
    _reverse_sequence()
