"""Fields of protobuf messages as bytes, with the standard library alone.

https://protobuf.dev/programming-guides/encoding describes the format: a tag, which is the field's
number and a wire type, and then the value.
"""
import struct


def varint(number):
    """An integer in base 128, the lowest digit first."""
    number &= (1 << 64) - 1  # negative numbers have 64 bits
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def integer(field, number):
    """An integer, bool or enum field."""
    return varint(field << 3) + varint(int(number))


def real(field, number):
    """A float field."""
    return varint(field << 3 | 5) + struct.pack("<f", number)


def content(field, value):
    """A field of bytes, of a string or of a message."""
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value
