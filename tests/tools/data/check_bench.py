#!/usr/bin/env python3
"""Checks the JSON of `scopevm bench`: check_bench.py FILE REQUESTS IN_FLIGHT [BOUND]

BOUND is the JSON of `scopevm bound` for the dims of the requests.
"""
import json
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
requests, in_flight = int(sys.argv[2]), int(sys.argv[3])
assert report["requests"] == requests and report["in_flight"] == in_flight
assert sum(bin["count"] for bin in report["histogram"]) == requests
assert abs(report["requests_per_second"] * report["seconds"] / requests - 1) < 1e-6
latency = report["latency_us"]
order = [latency[name] for name in ("min", "median", "p90", "p99", "max")]
assert order == sorted(order) and order[0] > 0, order
assert latency["min"] <= latency["mean"] <= latency["max"]
bins = report["histogram"]
assert bins[0]["from_us"] <= latency["min"]
assert bins[-1]["to_us"] is None or latency["max"] < bins[-1]["to_us"]
assert all(a["to_us"] == b["from_us"] for a, b in zip(bins, bins[1:]))
for use in report["memory"]:
    assert use["peak_bytes"] <= use["bound_bytes"]
    assert use["peak_bytes"] <= use["all_calls_peak_bytes"] <= in_flight * use["bound_bytes"]
if "profile" in report:
    profile = report["profile"]
    assert profile["calls"] == requests and profile["kernels"]
    times = [kernel["us"] for kernel in profile["kernels"]]
    assert times == sorted(times, reverse=True) and sum(times) <= profile["us"]
    limits = profile["limits"]
    for kernel in profile["kernels"]:
        assert kernel["launches"] % requests == 0 and kernel["bytes"] > 0
        assert abs(kernel["gb_per_second"] * kernel["us"] * 1e3 / kernel["bytes"] - 1) < 1e-6
        shares = [kernel["gb_per_second"] * 1e9 / limits["read_bytes_per_second"]]
        if kernel["flops"] is not None:
            assert abs(kernel["flops_per_byte"] * kernel["bytes"] / kernel["flops"] - 1) < 1e-6
            rate = kernel["gflop_per_second"]
            assert abs(rate * kernel["us"] * 1e3 / kernel["flops"] - 1) < 1e-6
            if limits["flops_per_second"] > 0:
                shares.append(rate * 1e9 / limits["flops_per_second"])
        assert abs(kernel["share_of_limit"] / max(shares) - 1) < 1e-6
if len(sys.argv) > 4:
    text = json.dumps(json.load(open(sys.argv[4], encoding="utf-8")))
    for use in report["memory"]:
        if use["bound_bytes"]:
            assert str(use["bound_bytes"]) in text, use
