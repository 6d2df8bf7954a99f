"""Weights of small networks, from a fixed seed. Every spelling of a network reads the same ones."""
import zlib

import numpy as np

BLOCK = 32  # of weights that share a scale, in MatMulNBits


class Weights:
    """Creates each weight when it is first read. Its values depend on its name alone.

    With `bits`, the matrices of linear layers have the values that an integer of so many bits and a
    scale for each block of BLOCK rows give.
    """

    def __init__(self, bits=None):
        self.bits = bits
        self.arrays = {}
        self.quantised = {}

    def normal(self, name, shape, std, mean=0.0):
        if name not in self.arrays:
            values = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
            self.arrays[name] = (values * std + mean).astype(np.float32)
        return self.arrays[name]

    def matrix(self, name, fan_in, fan_out):
        """A matrix of a linear layer, [fan_in, fan_out]. The scale preserves the variance."""
        if name in self.arrays or self.bits is None:
            return self.normal(name, (fan_in, fan_out), fan_in ** -0.5)
        blocks = self.normal(name, (fan_in, fan_out), fan_in ** -0.5).T.reshape(
            fan_out, fan_in // BLOCK, BLOCK)
        middle = 1 << (self.bits - 1)
        scales = (np.abs(blocks).max(axis=2) / (middle - 1)).astype(np.float32)
        levels = np.rint(blocks / scales[..., None]).astype(np.int64) + middle
        self.quantised[name] = (levels.astype(np.uint8), scales)
        dequantised = (levels - middle).astype(np.float32) * scales[..., None]
        self.arrays[name] = np.ascontiguousarray(dequantised.reshape(fan_out, fan_in).T)
        return self.arrays[name]

    def filters(self, name, count, channels, kernel):
        return self.normal(name, (count, channels, *kernel),
                           (channels * np.prod(kernel)) ** -0.5)

    def bias(self, name, width):
        return self.normal(name, (width,), 0.1)

    def scale(self, name, width):
        return self.normal(name, (width,), 0.1, 1.0)
