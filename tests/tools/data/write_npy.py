#!/usr/bin/env python3
"""Writes a .npy file of f32 numbers: write_npy.py FILE DIMS NUMBER..., with DIMS like 2x4."""
import struct
import sys

dims = sys.argv[2].split("x")
numbers = [float(text) for text in sys.argv[3:]]
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(dims)
header = header.ljust(117) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<%df" % len(numbers), *numbers))
