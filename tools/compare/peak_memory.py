"""Runs a command, its output dropped, and prints the largest resident size it reached, in bytes.
Never below about 10 MB, the size of the interpreter that starts it.

    python3 tools/compare/peak_memory.py COMMAND...
"""
import resource
import subprocess
import sys

finished = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
if finished.returncode != 0:
    sys.exit(finished.returncode)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
