#!/usr/bin/env python3
"""How much time does a call from Python cost in addition to the same call from C?

    bench/python/call_overhead.py BUILD        such as build/release

The module is examples/distance: two inputs and one result of a few bytes, so that nearly all of the
time is that of the call. Rounds of each form alternate in one process. Times are CPU times of the
thread, so that other programs have little effect. Prints the median and the quartiles of the rounds
in nanoseconds, and the CPU.
"""

import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROUNDS, CALLS = 41, 5000


def c_loop(build, folder):
    """The function of call_loop.c."""
    library = pathlib.Path(folder) / "call_loop.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{SOURCE}/include",
                    SOURCE / "bench/python/call_loop.c", "-o", library, f"-L{build}/lib",
                    "-lscopevm", f"-Wl,-rpath,{build}/lib"], check=True)
    function = ctypes.CDLL(str(library)).time_of_call
    function.restype, function.argtypes = ctypes.c_double, (ctypes.c_char_p, ctypes.c_int)
    return function


def python_loop(call):
    def measure():
        begin = time.thread_time_ns()
        for _ in range(CALLS):
            call()
        return (time.thread_time_ns() - begin) / CALLS
    return measure


def on_thread(measure):
    """On a thread other than the main one, where no handler of SIGINT is installed."""
    def run():
        times = []
        thread = threading.Thread(target=lambda: times.append(measure()))
        thread.start()
        thread.join()
        return times[0]
    return run


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("model name")]
    return f"{lines[0].partition(':')[2].strip()}, {len(lines)} CPUs" if lines else "unknown"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(build / "python"))
    import numpy  # after the path is set, as scopevm
    import scopevm
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/distance.bc"
        scopevm.compile(SOURCE / "examples/distance/distance.mlir", path)
        session = scopevm.Session(scopevm.Module.load(path))
        x = numpy.array([[1, 2, 3, 4]], numpy.float32)
        out = {"distance": numpy.zeros((1, 1), numpy.float32)}
        in_c = c_loop(build, folder)
        forms = {
            "C": lambda: in_c(path.encode(), CALLS),
            "Python, session(x, y)": python_loop(lambda: session(x, x)),
            "Python, session(x=x, y=y)": python_loop(lambda: session(x=x, y=x)),
            "Python, with out=": python_loop(lambda: session(x, x, out=out)),
            "Python, on another thread": on_thread(python_loop(lambda: session(x, x))),
            "Python, an empty function": python_loop(lambda: None),
        }
        times = {name: [] for name in forms}
        for _ in range(ROUNDS):
            for name, measure in forms.items():
                times[name].append(measure())
    print(f"{cpu()}; {ROUNDS} rounds of {CALLS} calls; ns per call")
    print(f"{'':28}{'median':>8}{'lower quartile':>16}{'upper quartile':>16}{'minus C':>10}")
    base = statistics.median(times["C"])
    for name, values in times.items():
        low, median, high = statistics.quantiles(values, n=4)
        print(f"{name:28}{median:8.0f}{low:16.0f}{high:16.0f}{median - base:10.0f}")


if __name__ == "__main__":
    main()
