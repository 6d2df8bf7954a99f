#!/usr/bin/env python3
"""Counts the CPU instructions of the VM's overhead, and fails if a case has more than its limit.

    instruction_counts.py PROGRAM

PROGRAM is instruction_counts. The counts do not depend on the load of the machine.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    profile = os.path.join(folder, "profile")
    output = subprocess.run(["valgrind", "--tool=callgrind", "--quiet",
                             f"--callgrind-out-file={profile}", sys.argv[1]],
                            capture_output=True, text=True)
    if output.returncode != 0:
        sys.exit(f"exit code {output.returncode}: {output.stderr}")
    counts = {}
    for path in glob.glob(profile + ".*"):
        text = open(path).read()
        if trigger := re.search(r"^desc: Trigger: Client Request: (\w+)$", text, re.MULTILINE):
            counts[trigger[1]] = int(re.search(r"^totals: (\d+)$", text, re.MULTILINE)[1])

failed = False
for line in output.stdout.splitlines():
    name, items, limit = line.split()
    count = counts[name] / int(items)
    failed |= count > float(limit)
    print(f"{name:<24} {count:8.1f}, at most {limit}")
sys.exit(failed)
