#!/usr/bin/env python3
"""Checks the plan in the JSON of `alloc compare`: check_plan.py JSON"""

import json
import sys

report = json.load(open(sys.argv[1]))
context = report["context"]
height, bound = context["best_plan_bytes"], context["best_plan_lower_bound_bytes"]
assert context["peak_live_bytes"] <= bound <= height, context
assert not context["best_plan_is_optimal"] or bound == height, context
for one in report["benchmarks"]:
    gap = one["peak_resident_bytes"] / height - 1
    assert abs(one["gap_to_best_plan"] - gap) < 1e-9, (one["name"], gap)
