#!/usr/bin/env python3
"""Checks a trace against the trace event format: check_trace.py FILE CALLS [wait]

Events have the fields of their phase. The intervals of a track are disjoint or nested, counters are
numbers in the order of time, and pairs of asynchronous events do not end before they begin. With
`wait`, each call has waited for memory and then for a worker, before it began.
"""
import collections
import json
import sys

trace = json.load(open(sys.argv[1], encoding="utf-8"))
intervals = collections.defaultdict(list)
counters = collections.defaultdict(list)
opened, waits, calls = {}, collections.defaultdict(dict), {}
for event in trace["traceEvents"]:
    phase = event["ph"]
    assert isinstance(event["name"], str) and isinstance(event["pid"], int)
    if phase == "M":
        assert event["name"] == "thread_name" and isinstance(event["args"]["name"], str)
        continue
    assert isinstance(event["ts"], (int, float)) and isinstance(event["tid"], int)
    assert event["cat"] in ("call", "function", "launch", "copy", "wait", "memory")
    if phase == "X":
        assert event["dur"] >= 0
        intervals[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        if event["cat"] == "call":
            args = event["args"]
            assert args["request"] not in calls and args["status"] == 0 and args["peak_bytes"] > 0
            assert args["dims"] and all(value > 0 for value in args["dims"].values())
            calls[args["request"]] = event["ts"]
    elif phase == "C":
        assert list(event["args"]) == ["bytes"] and event["args"]["bytes"] >= 0
        counters[event["tid"], event["name"]].append(event["ts"])
    elif phase == "b":
        key = event["cat"], event["id"], event["name"]
        assert key not in opened
        opened[key] = event["ts"]
    elif phase == "e":
        begin = opened.pop((event["cat"], event["id"], event["name"]))
        assert begin <= event["ts"]
        waits[int(event["id"])][event["name"]] = begin, event["ts"]
    else:
        raise AssertionError(phase)
assert not opened and len(calls) == int(sys.argv[2]) and counters

kRounding = 2e-3  # microseconds: times are rounded to nanoseconds
for track in intervals.values():
    # An enclosing interval precedes the intervals in it.
    ends = []
    for begin, end in sorted(track, key=lambda interval: (interval[0], -interval[1])):
        while ends and ends[-1] <= begin + kRounding:
            ends.pop()
        assert not ends or end <= ends[-1] + kRounding, (begin, end, ends[-1])
        ends.append(end)
for times in counters.values():
    assert times == sorted(times)
if len(sys.argv) > 3:
    assert waits.keys() == calls.keys()
    for request, begin in calls.items():
        memory, worker = waits[request]["memory"], waits[request]["worker"]
        assert abs(memory[1] - worker[0]) <= kRounding and worker[1] <= begin + kRounding
else:
    assert not waits
