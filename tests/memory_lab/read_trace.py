#!/usr/bin/env python3
"""Prints the counts and the peak of a memory trace. Follows docs/memory-trace.md and shares no code
with the tools.

    read_trace.py FILE [SIZE...]    SIZE: also print the number of allocations of this size
"""
import sys


def integer(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def events(contents):
    """(kind, thread, alignment, distance, size, scope) of each event."""
    _, at = integer(contents, 0)
    _, at = integer(contents, at)
    thread = scope = stack = 0
    while at < len(contents):
        tag = contents[at]
        kind, alignment, distance, size = tag & 3, 0, None, 0
        _, at = integer(contents, at + 1)
        if tag & 4:
            thread, at = integer(contents, at)
        if kind > 0:
            distance, at = integer(contents, at)
        if tag & 8:
            scope, at = integer(contents, at)
        if tag & 16:
            stack, at = integer(contents, at)
        if tag & 32:
            alignment, at = 1 << contents[at], at + 1
        if kind != 1:
            size, at = integer(contents, at)
            _, at = integer(contents, at)
        yield kind, thread, alignment, distance, size, scope


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    assert data[:8] == b"SVMEMTRC" and int.from_bytes(data[8:12], "little") == 1
    at, sizes, live, peak, threads = 12, [], 0, 0, set()
    counts, of_size = [0, 0, 0], {int(size): 0 for size in sys.argv[2:]}
    alignments, scopes, of_mapping, mappings = set(), [], [], [0, 0, 0]
    while at < len(data):
        size = int.from_bytes(data[at + 1:at + 5], "little")
        contents = data[at + 9:at + 9 + size]
        if data[at] == 4:
            name = 0
            while name < len(contents):
                length, name = integer(contents, name)
                scopes.append(contents[name:name + length])
                name += length
        if data[at] == 5:
            for kind, thread, alignment, distance, bytes_, scope in events(contents):
                if kind == 0:
                    of_mapping.append(scopes[scope] == b"mmap")
                is_mapping = of_mapping[len(of_mapping) - 1 - (distance or 0)]
                (mappings if is_mapping else counts)[kind] += 1
                threads.add(thread)
                if kind == 0:
                    sizes.append(0)
                    distance = 0
                    if bytes_ in of_size:
                        of_size[bytes_] += 1
                    alignments.add(alignment)
                block = len(sizes) - 1 - distance
                live += bytes_ - sizes[block]
                sizes[block] = bytes_
                peak = max(peak, live)
        at += 9 + size
    print(f"allocations {counts[0]} releases {counts[1]} reallocations {counts[2]}")
    print(f"peak {peak} threads {len(threads)} alignments {sorted(alignments)}")
    print(f"mappings {mappings[0]} releases {mappings[1]} reallocations {mappings[2]}")
    for size, count in of_size.items():
        print(f"size {size}: {count}")


if __name__ == "__main__":
    main()
