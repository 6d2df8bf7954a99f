"""Writes PREFIX.little.npy, PREFIX.big.npy, ...: one array in several orders of elements and bytes.

    npy_orders.py PREFIX
"""
import struct
import sys

VALUES = range(8)  # of shape (2, 4)
COLUMNS = [0, 4, 1, 5, 2, 6, 3, 7]  # the same in Fortran order


def write(name, descr, fortran, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}}}"
    with open(f"{sys.argv[1]}.{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\1\0\x76\0" + header.ljust(117).encode() + b"\n" + data)


write("little", "<f4", False, (2, 4), struct.pack("<8f", *VALUES))
write("big", ">f4", False, (2, 4), struct.pack(">8f", *VALUES))
write("fortran", "<f4", True, (2, 4), struct.pack("<8f", *COLUMNS))
write("big_fortran", ">f4", True, (2, 4), struct.pack(">8f", *COLUMNS))
write("string", ">U2", False, (2,), "abc\0".encode("utf-32-be"))
