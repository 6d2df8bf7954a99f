#!/usr/bin/env python3
"""Checks that each replay executed the operations of a trace: check_counts.py TRACE REPLAY.json"""
import json
import pathlib
import subprocess
import sys

reader = pathlib.Path(__file__).with_name("read_trace.py")
text = subprocess.run([reader, sys.argv[1]], check=True, capture_output=True, text=True).stdout
words = text.splitlines()[0].split()
with open(sys.argv[2], encoding="utf-8") as file:
    replays = json.load(file)
for replay in replays:
    executed = [name + " " + str(replay[name]) for name in words[::2]]
    if " ".join(executed) != " ".join(words) or replay["failures"] or not replay["is_complete"]:
        sys.exit(f"{replay['allocator']}: {executed}, expected {words}")
if not replays:
    sys.exit("no replay")
