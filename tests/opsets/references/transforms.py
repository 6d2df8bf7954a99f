"""Cases of DFT, STFT, window functions and mel filters."""
import math

import numpy as np

from case_file import case, cases, reals


def _dft(signal, axis, length=None, inverse=False, onesided=False):
    """The discrete Fourier transform by its definition. The last dim of `signal` is 1 for real and
    2 for complex elements."""
    x = signal[..., 0].astype(np.complex128)
    if signal.shape[-1] == 2:
        x = x + 1j * signal[..., 1]
    x = np.moveaxis(x, axis, -1)
    length = length or x.shape[-1]
    missing = np.zeros(x.shape[:-1] + (max(0, length - x.shape[-1]),))
    x = np.concatenate([x[..., :length], missing], -1)
    n = np.arange(length)
    sign = 2j if inverse else -2j
    waves = np.exp(sign * np.pi * np.outer(n, n) / length)
    y = (x[..., None] * waves).sum(-2) / (length if inverse else 1)
    if onesided:
        y = y[..., :length // 2 + 1]
    y = np.moveaxis(y, -1, axis)
    return np.stack([y.real, y.imag], -1).astype(signal.dtype)


def _transforms():
    real, complex_ = reals("real", 2, 6, 5, 1), reals("complex", 2, 6, 5, 2)
    cases("dft_default_axis", 20, "DFT", {"x": real}, [_dft(real, 2)], keep_last=True)
    cases("dft_axis", 20, "DFT", {"x": real}, [_dft(real, 1)], constants={"axis": np.array(-3)},
         order=["x", "", "axis"], keep_last=True)
    cases("dft_onesided", 20, "DFT", {"x": real}, [_dft(real, 1, onesided=True)],
         constants={"axis": np.array(1)}, order=["x", "", "axis"], onesided=1, keep_last=True)
    cases("dft_inverse", 20, "DFT", {"x": complex_}, [_dft(complex_, 2, inverse=True)], inverse=1,
         keep_last=True)
    for name, length in (("longer", 9), ("shorter", 4)):
        case(f"dft_{name}", 20, "DFT", {"x": complex_}, [_dft(complex_, 1, length)],
             constants={"length": np.array(length), "axis": np.array(1)})
    case("dft_longer", 17, "DFT", {"x": real}, [_dft(real, 1, 9, onesided=True)],
         constants={"length": np.array(9)}, onesided=1)
    wide = real.astype(np.float64)
    case("dft_f64", 20, "DFT", {"x": wide}, [_dft(wide, 2)])

    # Longer than the longest transform by a matrix: a power of two, a product of primes, a prime.
    for length in (2048, 1806, 2053):
        for components in (1, 2):
            x = reals("long", 2, length, components).astype(np.float64)
            onesided = int(components == 1)
            case(f"dft_{length}_of_{components}", 20, "DFT", {"x": x},
                 [_dft(x, 1, onesided=bool(onesided))], onesided=onesided)
    case("dft_2053_inverse", 20, "DFT", {"x": x}, [_dft(x, 1, inverse=True)], inverse=1)
    x = reals("long", 2100, 2, 2).astype(np.float64)
    case("dft_longer_than_signal", 20, "DFT", {"x": x}, [_dft(x, 0, 4099)],
         constants={"length": np.array(4099), "axis": np.array(0)})

    signal = reals("signal", 2, 20, 1)
    for name, length, step, has_window, onesided in (("plain", 8, 3, False, 1),
                                                     ("window", 6, 4, True, 0)):
        window = reals("window", length) if has_window else np.ones(length, np.float32)
        starts = range(0, 20 - length + 1, step)
        frames = np.stack([signal[:, s:s + length] * window[:, None] for s in starts], 1)
        y = _dft(frames, 2, onesided=onesided)
        constants = {"step": np.array(step)}
        if has_window:
            constants["window"] = window
        else:
            constants["length"] = np.array(length)
        order = ["x", "step", "window"] if has_window else ["x", "step", "", "length"]
        cases(f"stft_{name}", 17, "STFT", {"x": signal}, [y], constants=constants, order=order,
             onesided=onesided, keep_last=True)


def _windows():
    functions = {
        "HannWindow": lambda t: 0.5 - 0.5 * np.cos(t),
        "HammingWindow": lambda t: 25 / 46 - 21 / 46 * np.cos(t),
        "BlackmanWindow": lambda t: 0.42 - 0.5 * np.cos(t) + 0.08 * np.cos(2 * t),
    }
    for op, function in functions.items():
        name = op.lower().replace("window", "_window")
        for periodic in (0, 1):
            angle = 2 * np.pi * np.arange(10) / (10 if periodic else 9)
            case(f"{name}_{periodic}", 17, op, {}, [function(angle).astype(np.float32)],
                 constants={"size": np.array(10)}, periodic=periodic)
    # Uses math.cos, because float64 results of np.cos depend on the CPU's vector extensions.
    window = np.array([0.5 - 0.5 * math.cos(2 * math.pi * i / 5) for i in range(5)])
    case("hann_window_f64", 17, "HannWindow", {}, [window],
         constants={"size": np.array(5, np.int32)}, output_datatype=11)


def _mel():
    bins, length, rate, low, high = 8, 64, 8000, 20.0, 3800.0
    to_mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)  # noqa: E731
    edges = to_mel(low) + np.arange(bins + 2) * (to_mel(high) - to_mel(low)) / (bins + 2)
    hertz = 700 * (10 ** (edges / 2595) - 1)
    at = np.floor((length + 1) * hertz / rate).astype(int)
    y = np.zeros((length // 2 + 1, bins), np.float32)
    for i in range(bins):
        lower, centre, higher = at[i:i + 3]
        for j in range(lower, centre + 1):
            y[j, i] = 1 if centre == lower else (j - lower) / (centre - lower)
        for j in range(centre, higher):
            y[j, i] = (higher - j) / (higher - centre)
    scalars = {"low": np.float32(low), "high": np.float32(high)}
    sizes = {"bins": np.array(bins), "length": np.array(length), "rate": np.array(rate)}
    case("mel_weight_matrix", 17, "MelWeightMatrix", {}, [y], constants={**sizes, **scalars})
    case("mel_weight_matrix_run_time", 17, "MelWeightMatrix", scalars, [y], constants=sizes,
         order=["bins", "length", "rate", "low", "high"])


def write_cases():
    _transforms()
    _windows()
    _mel()
