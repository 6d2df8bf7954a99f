"""Cases of GridSample, AffineGrid, DeformConv and RoiAlign. The references compute one point at a
time."""
import itertools
import math

import numpy as np

from case_file import case, cases, reals


def _cubic(d, a=-0.75):
    """Keys' cubic convolution kernel."""
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def _mirror(x, low, high):
    """Reflects x at `low` and `high` until it is between them."""
    while not low <= x <= high:
        x = 2 * low - x if x < low else 2 * high - x
    return x


def _element(plane, at, padding, aligned):
    """plane[at]. Outside the plane, `padding` determines the value."""
    index = []
    for i, size in zip(at, plane.shape):
        if not 0 <= i < size:
            if padding == "zeros":
                return 0.0
            low, high = (0, size - 1) if aligned else (-0.5, size - 0.5)
            i = min(max(i, 0), size - 1) if padding == "border" else int(_mirror(i, low, high))
        index.append(int(i))
    return float(plane[tuple(index)])


def _at(plane, point, mode, padding, aligned):
    """The value of `plane` at the real coordinates `point`, interpolated as `mode` requires."""
    if mode == "nearest":
        point = [round(p) for p in point]  # ties to even
    inside = []
    for p, size in zip(point, plane.shape):
        low, high = (0, size - 1) if aligned else (-0.5, size - 0.5)
        if not low <= p <= high:
            if padding == "border":
                p = min(max(p, 0), size - 1)
            elif padding == "reflection":
                p = _mirror(p, low, high)
        inside.append(p)
    if mode == "nearest":
        return _element(plane, inside, padding, aligned)
    taps = range(-1, 3) if mode == "cubic" else range(2)
    total = 0.0
    for offsets in itertools.product(taps, repeat=len(inside)):
        weight, at = 1.0, []
        for p, offset in zip(inside, offsets):
            distance = p - (math.floor(p) + offset)
            weight *= _cubic(distance) if mode == "cubic" else 1 - abs(distance)
            at.append(math.floor(p) + offset)
        total += weight * _element(plane, at, padding, aligned)
    return total


def _grid_sample(x, grid, mode, padding, aligned):
    y = np.zeros(x.shape[:2] + grid.shape[1:-1])
    for image in range(x.shape[0]):
        for position in np.ndindex(*grid.shape[1:-1]):
            normal = [float(c) for c in grid[(image, *position)][::-1]]
            point = [(c + 1) / 2 * (size - 1) if aligned else ((c + 1) * size - 1) / 2
                     for c, size in zip(normal, x.shape[2:])]
            for channel in range(x.shape[1]):
                y[(image, channel, *position)] = _at(x[image, channel], point, mode, padding,
                                                     aligned)
    return y.astype(x.dtype)


def _grid_samples():
    x, grid = reals("x", 2, 3, 4, 5), reals("grid", 2, 3, 6, 2) * 0.7
    old = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for aligned in (0, 1):
                y = _grid_sample(x, grid, mode, padding, aligned)
                case(f"grid_sample_{mode}_{padding}_{aligned}", 20, "GridSample",
                     {"x": x, "grid": grid}, [y], mode=mode, padding_mode=padding,
                     align_corners=aligned)
        y = _grid_sample(x, grid, mode, "zeros", 0)
        cases(f"grid_sample_old_{mode}", 16, "GridSample", {"x": x, "grid": grid}, [y],
             mode=old[mode])
    volume, grid = reals("volume", 1, 2, 3, 4, 3), reals("grid", 1, 2, 3, 2, 3) * 0.6
    for mode in ("linear", "nearest", "cubic"):
        y = _grid_sample(volume, grid, mode, "border", 0)
        cases(f"grid_sample_volume_{mode}", 22, "GridSample", {"x": volume, "grid": grid}, [y],
             mode=mode, padding_mode="border")
    y = _grid_sample(volume, grid, "linear", "zeros", 1)
    case("grid_sample_volume_f64", 22, "GridSample",
         {"x": volume.astype(np.float64), "grid": grid}, [y.astype(np.float64)], align_corners=1)
    # Points between two voxels, and at the outer edges of the first and last one.
    x, grid = reals("ties", 1, 1, 1, 1, 4), np.zeros((1, 1, 1, 7, 3), np.float32)
    grid[..., 0] = (2 * np.array([-1, -0.5, 0.5, 1.5, 2.5, 3, 3.5]) + 1) / 4 - 1
    for padding in ("zeros", "border"):
        y = _grid_sample(x, grid, "nearest", padding, 0)
        cases(f"grid_sample_ties_{padding}", 20, "GridSample", {"x": x, "grid": grid}, [y],
              mode="nearest", padding_mode=padding)


def _affine_grids():
    for name, sizes in (("plane", (3, 4)), ("volume", (2, 3, 4))):
        rank = len(sizes)
        theta = reals(f"theta{name}", 2, rank, rank + 1)
        for aligned in (0, 1):
            y = np.zeros((2, *sizes, rank))
            for position in np.ndindex(*sizes):
                point = [2 * i / (size - 1) - 1 if aligned else (2 * i + 1) / size - 1
                         for i, size in zip(position, sizes)]
                y[(slice(None), *position)] = theta.astype(np.float64) @ np.array(point[::-1] + [1])
            cases(f"affine_grid_{name}_{aligned}", 20, "AffineGrid", {"theta": theta},
                 [y.astype(np.float32)], constants={"size": np.array([2, 3, *sizes])},
                 align_corners=aligned)


def _deform_conv(x, w, offset, bias, mask, strides, pads, dilations, group, offset_group):
    rank, kernel, out = x.ndim - 2, w.shape[2:], offset.shape[2:]
    taps = int(np.prod(kernel))
    offset = offset.reshape(x.shape[0], offset_group, taps, rank, *out)
    mask = mask.reshape(x.shape[0], offset_group, taps, *out)
    y = np.zeros((x.shape[0], w.shape[0], *out))
    for image, m in np.ndindex(x.shape[0], w.shape[0]):
        for c in range(w.shape[1]):
            channel = m // (w.shape[0] // group) * w.shape[1] + c
            part = channel // (x.shape[1] // offset_group)
            for position in np.ndindex(*out):
                for tap, place in enumerate(np.ndindex(*kernel)):
                    point = [position[d] * strides[d] - pads[d] + place[d] * dilations[d] +
                             float(offset[(image, part, tap, d, *position)]) for d in range(rank)]
                    value = _at(x[image, channel], point, "linear", "zeros", 1)
                    y[(image, m, *position)] += (value * w[(m, c, *place)] *
                                                 mask[(image, part, tap, *position)])
    return (y + bias.reshape(1, -1, *[1] * rank)).astype(np.float32)


def _deform_convs():
    settings = {
        "plain": ((1, 1, 4, 4), (1, 1, 2, 2), 1, 1, [1, 1], [0, 0, 0, 0], [1, 1], False),
        "mask": ((2, 2, 5, 4), (3, 2, 3, 2), 1, 1, [2, 1], [1, 0, 1, 1], [1, 1], True),
        "groups": ((1, 4, 5, 5), (4, 2, 2, 2), 2, 2, [1, 2], [0, 1, 0, 0], [2, 1], True),
        "line": ((1, 2, 7), (2, 2, 3), 1, 2, [1], [1, 1], [1], False),
    }
    for name, (x, w, group, parts, strides, pads, dilations, has_mask) in settings.items():
        rank, kernel = len(x) - 2, w[2:]
        spans = [dilations[d] * (kernel[d] - 1) + 1 for d in range(rank)]
        out = [(x[2 + d] + pads[d] + pads[rank + d] - spans[d]) // strides[d] + 1
               for d in range(rank)]
        taps = parts * int(np.prod(kernel))
        data, weight = reals(f"{name}x", *x), reals(f"{name}w", *w)
        offset = reals(f"{name}o", x[0], taps * rank, *out)
        bias = reals(f"{name}b", w[0]) if has_mask else np.zeros(w[0], np.float32)
        mask = (reals(f"{name}m", x[0], taps, *out) if has_mask
                else np.ones((x[0], taps, *out), np.float32))
        inputs = {"x": data, "w": weight, "offset": offset}
        if has_mask:
            inputs.update({"bias": bias, "mask": mask})
        y = _deform_conv(data, weight, offset, bias, mask, strides, pads, dilations, group, parts)
        case(f"deform_conv_{name}", 22 if name == "groups" else 19, "DeformConv", inputs, [y],
             strides=strides, pads=pads, dilations=dilations, group=group, offset_group=parts)


def _roi_align(x, boxes, images, height, width, samples, scale, moved, mode):
    y = np.zeros((len(boxes), x.shape[1], height, width))
    for k, (box, image) in enumerate(zip(boxes.astype(np.float64) * scale, images)):
        left, top, right, bottom = box - (0.5 if moved else 0.0)
        size = [bottom - top, right - left]
        if not moved:
            size = [max(s, 1.0) for s in size]
        cell = [size[0] / height, size[1] / width]
        counts = [samples or math.ceil(c) for c in cell]
        for channel, i, j in np.ndindex(x.shape[1], height, width):
            terms = []
            for p, q in np.ndindex(*counts):
                at = [top + i * cell[0] + (p + 0.5) * cell[0] / counts[0],
                      left + j * cell[1] + (q + 0.5) * cell[1] / counts[1]]
                if not (-1 <= at[0] <= x.shape[2] and -1 <= at[1] <= x.shape[3]):
                    terms.append([0.0])
                    continue
                low, part = [], []
                for a, dim in zip(at, x.shape[2:]):
                    a = max(a, 0)
                    low.append(min(int(a), dim - 1))
                    part.append(a - low[-1] if int(a) < dim - 1 else 0.0)
                terms.append([
                    (part[0] if u else 1 - part[0]) * (part[1] if v else 1 - part[1]) *
                    float(x[image, channel, min(low[0] + u, x.shape[2] - 1),
                            min(low[1] + v, x.shape[3] - 1)]) for u, v in np.ndindex(2, 2)])
            # The specification's maximum is over the weighted neighbours of all points.
            y[k, channel, i, j] = (max(map(max, terms)) if mode == "max"
                                   else sum(map(sum, terms)) / len(terms))
    return y.astype(x.dtype)


def _roi_aligns():
    x = reals("roi", 2, 3, 8, 9)
    boxes = np.array([[1, 1, 7, 6], [-3, 2, 4, 20], [0.5, 0.25, 0.75, 0.3], [2, 3, 14, 9]],
                     np.float32)
    images = np.array([0, 1, 1, 0])
    inputs = {"x": x, "boxes": boxes, "images": images}
    for mode in ("avg", "max"):
        for samples in (0, 2):
            y = _roi_align(x, boxes, images, 3, 2, samples, 0.5, True, mode)
            cases(f"roi_align_{mode}_{samples}", 22, "RoiAlign", inputs, [y], mode=mode,
                 output_height=3, output_width=2, sampling_ratio=samples, spatial_scale=0.5)
    y = _roi_align(x, boxes, images, 2, 2, 0, 1.0, False, "avg")
    case("roi_align_old", 10, "RoiAlign", inputs, [y], output_height=2, output_width=2)
    case("roi_align_not_moved", 16, "RoiAlign", inputs, [y], output_height=2, output_width=2,
         coordinate_transformation_mode="output_half_pixel")


def write_cases():
    _grid_samples()
    _affine_grids()
    _deform_convs()
    _roi_aligns()
