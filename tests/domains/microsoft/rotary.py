"""Cases of RotaryEmbedding."""
import numpy as np

from operators import Case, operator


def rotate(x, cosines, sines, interleaved):
    """x: [batch, heads, length, size]; cosines and sines: [batch, length, half]."""
    half = cosines.shape[-1]
    cosines, sines = cosines[:, None], sines[:, None]
    y = x.copy()
    first = np.s_[..., 0:2 * half:2] if interleaved else np.s_[..., :half]
    second = np.s_[..., 1:2 * half:2] if interleaved else np.s_[..., half:2 * half]
    y[first] = x[first] * cosines - x[second] * sines
    y[second] = x[first] * sines + x[second] * cosines
    return y


@operator("RotaryEmbedding")
def _rotary(draw):
    batch, length, heads = draw.number(1, 3), draw.number(1, 5), draw.number(1, 3)
    size, limit = draw.choice(8, 16), 9
    turned = draw.choice(size, size, size // 2)
    angles = draw.reals(limit, turned // 2, low=-3, high=3)
    cosines, sines = np.cos(angles), np.sin(angles)
    attributes = {"interleaved": draw.number(0, 1)}
    if turned < size:
        attributes.update(rotary_embedding_dim=turned, num_heads=heads)
    elif draw.flag():
        attributes.update(num_heads=heads)
    if draw.flag():
        given = draw.integers(0, limit, batch, length)
        positions = given
    else:
        given = draw.integers(0, limit - length + 1, 1)
        positions = np.tile(given + np.arange(length), (batch, 1))
    x = draw.reals(batch, heads, length, size)
    y = rotate(x, cosines[positions], sines[positions], attributes["interleaved"])
    if draw.flag():
        x, y = (np.transpose(t, (0, 2, 1, 3)).reshape(batch, length, -1) for t in (x, y))
    return Case({"x": x, "positions": given, "cosines": cosines, "sines": sines}, [y], attributes,
                ("cosines", "sines") * draw.flag())
