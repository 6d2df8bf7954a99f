"""Runs a command, discards its output, and prints its peak resident size in bytes. The smallest
possible result is about 10 MB: the size of this interpreter, from which the command is forked.

    python3 tools/compare/peak_memory.py COMMAND...
"""
import resource
import subprocess
import sys

finished = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
if finished.returncode != 0:
    sys.exit(finished.returncode)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
