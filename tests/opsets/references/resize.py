"""Cases of Resize and Upsample. The reference computes one axis and one result position at a
time."""
import math

import numpy as np

from case_file import case, cases, integers, reals


def _coordinate(mode, o, size, out, scale, roi):
    if mode == "asymmetric":
        return o / scale
    if mode == "align_corners":
        return 0.0 if out == 1 else o * (size - 1) / (out - 1)
    if mode == "pytorch_half_pixel":
        return (o + 0.5) / scale - 0.5 if out > 1 else 0.0
    if mode == "half_pixel_symmetric":
        return size / 2 * (1 - out / (scale * size)) + (o + 0.5) / scale - 0.5
    if mode == "tf_crop_and_resize":
        start, end = roi
        if out == 1:
            return 0.5 * (start + end) * (size - 1)
        return start * (size - 1) + o * (end - start) * (size - 1) / (out - 1)
    return (o + 0.5) / scale - 0.5


def _filter(mode, distance, a):
    """The weight of a sample: linear interpolation, or Keys' cubic convolution kernel."""
    d = abs(distance)
    if mode == "linear":
        return max(0.0, 1 - d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def _nearest(x, how):
    if how == "floor":
        return math.floor(x)
    if how == "ceil":
        return math.ceil(x)
    return math.floor(x + 0.5) if how == "round_prefer_ceil" else math.ceil(x - 0.5)


def resize_axis(x, axis, out, scale=None, mode="nearest", coordinates="half_pixel",
                nearest="round_prefer_floor", a=-0.75, exclude_outside=False, antialias=False,
                roi=None, extrapolation=0.0):
    size = x.shape[axis]
    scale = scale if scale is not None else out / size
    lines = np.moveaxis(x.astype(np.float64), axis, 0)
    rows = []
    for o in range(out):
        at = _coordinate(coordinates, o, size, out, scale, roi)
        if coordinates == "tf_crop_and_resize" and not 0 <= at <= size - 1:
            rows.append(np.full(lines.shape[1:], float(extrapolation)))
            continue
        if mode == "nearest":
            rows.append(lines[min(max(_nearest(at, nearest), 0), size - 1)])
            continue
        stretch = min(scale, 1.0) if antialias else 1.0
        reach = math.ceil(2 / stretch) + 1
        total, row = 0.0, 0.0
        for i in range(math.floor(at) - reach, math.floor(at) + reach + 2):
            weight = _filter(mode, (i - at) * stretch, a)
            if exclude_outside and not 0 <= i < size:
                weight = 0.0
            total += weight
            row = row + weight * lines[min(max(i, 0), size - 1)]
        rows.append(row / total)
    return np.moveaxis(np.array(rows), 0, axis)


def _resized(x, sizes, axes=None, scales=None, roi=None, **how):
    y, axes = x, axes or list(range(x.ndim))
    for i, axis in enumerate(axes):
        y = resize_axis(y, axis, sizes[i], scale=scales[i] if scales else None,
                        roi=(roi[i], roi[len(axes) + i]) if roi else None, **how)
    return y.astype(x.dtype)


def _by_sizes(name, opset, x, sizes, write=cases, policy=None, attributes=None, axes=None, **how):
    attributes = dict(attributes or {})
    if axes is not None:
        attributes["axes"] = axes
    named = {"mode": "mode", "coordinates": "coordinate_transformation_mode", "a": "cubic_coeff_a",
             "nearest": "nearest_mode", "antialias": "antialias",
             "exclude_outside": "exclude_outside"}
    attributes.update({named[key]: value for key, value in how.items()})
    y_sizes, scales = sizes, None
    if policy:
        attributes["keep_aspect_ratio_policy"] = policy
        dims = [x.shape[axis] for axis in axes or range(x.ndim)]
        ratio = (min if policy == "not_larger" else max)(s / d for s, d in zip(sizes, dims))
        y_sizes, scales = [math.floor(ratio * d + 0.5) for d in dims], [ratio] * len(dims)
    write(name, opset, "Resize", {"x": x}, [_resized(x, y_sizes, axes, scales, **how)],
          constants={"sizes": np.array(sizes)}, order=["x", "", "", "sizes"], **attributes)


def _modes():
    x = reals("resize", 1, 2, 5, 4)
    for coordinates in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
        for mode in ("nearest", "linear", "cubic"):
            _by_sizes(f"resize_{coordinates}_{mode}", 13, x, [1, 2, 7, 3], case, mode=mode,
                      coordinates=coordinates)
    for nearest in ("floor", "ceil", "round_prefer_ceil"):
        _by_sizes(f"resize_{nearest}", 13, x, [1, 2, 8, 3], case, nearest=nearest)
    _by_sizes("resize_exclude_outside", 13, x, [1, 2, 9, 6], mode="cubic", a=-0.5,
              exclude_outside=1)
    _by_sizes("resize_axes", 18, x, [7, 3], mode="linear", axes=[2, 3])
    _by_sizes("resize_axes_swapped", 18, x, [3, 7], mode="cubic", axes=[-1, 2])
    _by_sizes("resize_volume", 19, reals("volume", 1, 1, 3, 4, 5), [1, 1, 4, 3, 7], case,
              mode="linear")
    _by_sizes("resize_f64", 19, x.astype(np.float64), [1, 2, 3, 8], case, mode="linear")
    image = integers("image", 0, 255, 1, 1, 4, 4, dtype=np.uint8)
    y = np.floor(_resized(image.astype(np.float64), [1, 1, 2, 2], mode="linear")).astype(np.uint8)
    case("resize_u8", 19, "Resize", {"x": image}, [y], constants={"sizes": np.array([1, 1, 2, 2])},
         order=["x", "", "", "sizes"], mode="linear")


def _antialias():
    x = reals("antialias", 1, 2, 9, 8)
    for mode in ("linear", "cubic"):
        for exclude in (0, 1):
            _by_sizes(f"resize_antialias_{mode}_{exclude}", 18 + exclude, x, [1, 2, 4, 3],
                      mode=mode, antialias=1, exclude_outside=exclude)
        _by_sizes(f"resize_antialias_{mode}_up", 19, x, [12, 5], case, mode=mode, antialias=1,
                  axes=[2, 3])
    scales = [0.4, 0.75]
    y = _resized(x, [3, 6], [2, 3], [float(np.float32(s)) for s in scales], mode="linear",
                 antialias=True)
    case("resize_antialias_scales", 18, "Resize", {"x": x}, [y],
         constants={"scales": np.array(scales, np.float32)}, order=["x", "", "scales"],
         mode="linear", antialias=1, axes=[2, 3])


def _policies():
    x = reals("policy", 1, 1, 4, 6)
    for policy in ("not_larger", "not_smaller"):
        for mode in ("nearest", "linear"):
            _by_sizes(f"resize_{policy}_{mode}", 18, x, [7, 8], mode=mode, policy=policy,
                      axes=[2, 3])
    scales = [0.6, 1.7]
    for mode in ("nearest", "linear", "cubic"):
        y = _resized(x, [2, 10], [2, 3], [float(np.float32(s)) for s in scales], mode=mode,
                     coordinates="half_pixel_symmetric")
        case(f"resize_half_pixel_symmetric_{mode}", 19, "Resize", {"x": x}, [y],
             constants={"scales": np.array(scales, np.float32)}, order=["x", "", "scales"],
             mode=mode, axes=[2, 3], coordinate_transformation_mode="half_pixel_symmetric")


def _regions():
    x = reals("region", 1, 1, 5, 6)
    region = [0, 0, 0.3, -0.4, 1, 1, 1.3, 0.8]
    for mode in ("nearest", "linear", "cubic"):
        y = _resized(x, [1, 1, 4, 7], roi=[float(np.float32(r)) for r in region], mode=mode,
                     coordinates="tf_crop_and_resize", extrapolation=7)
        cases(f"resize_crop_{mode}", 13, "Resize", {"x": x}, [y],
             constants={"roi": np.array(region, np.float32), "sizes": np.array([1, 1, 4, 7])},
             order=["x", "roi", "", "sizes"], mode=mode, extrapolation_value=7.0,
             coordinate_transformation_mode="tf_crop_and_resize")
    roi = np.array([0.25, 0.1, 0.75, 0.9], np.float32)
    y = _resized(x, [3, 1], [2, 3], roi=[float(r) for r in roi], mode="linear",
                 coordinates="tf_crop_and_resize")
    case("resize_crop_run_time", 18, "Resize", {"x": x, "roi": roi}, [y],
         constants={"sizes": np.array([3, 1])}, order=["x", "roi", "", "sizes"], mode="linear",
         axes=[2, 3], coordinate_transformation_mode="tf_crop_and_resize")


def write_cases():
    _modes()
    _antialias()
    _policies()
    _regions()
    x = reals("upsample", 1, 1, 2, 3)
    case("upsample_linear", 9, "Upsample", {"x": x},
         [_resized(x, [1, 1, 4, 9], mode="linear", coordinates="asymmetric")],
         constants={"scales": np.array([1, 1, 2, 3], np.float32)}, mode="linear")
