#!/usr/bin/env python3
"""Checks the operations of bench_flops.test.mlir: check_flops.py JSON [M K N B]

Without dims, they must be unknown.
"""
import json
import sys

profile = json.load(open(sys.argv[1], encoding="utf-8"))["profile"]
if len(sys.argv) == 2:
    assert all(kernel["flops"] is None for kernel in profile["kernels"])
    sys.exit()
m, k, n, b = map(int, sys.argv[2:])
expected = {"product": 2 * m * n * k,
            "positive": 2 * m * n * k + 2 * m * n,  # and a bias, and a relu
            "conv": 2 * b * 4 * 6 * 6 * 3 * 3 * 3,
            "turned": None}
found = {}
for kernel in profile["kernels"]:
    for name in expected:
        # Kernels that prepare operands have no number.
        if name in kernel["ops"] and not kernel["kernel"].startswith("pack"):
            flops = kernel["flops"]
            found[name] = None if flops is None else flops / kernel["launches"]
assert found == expected, (found, expected)
