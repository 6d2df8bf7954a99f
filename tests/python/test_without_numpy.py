"""The package without NumPy: results are objects of scopevm.Tensor."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

CODE = """
import array, sys
sys.modules["numpy"] = None
import scopevm
session = scopevm.Session(scopevm.compile("examples/distance/distance.mlir"))
x = memoryview(array.array("f", range(8))).cast("B").cast("f", (2, 4))
result = session(x, x)
assert type(result) is scopevm.Tensor and memoryview(result).tolist() == [[0.0], [0.0]]
assert result.shape == (2, 1) and result.dtype == "f32" and result.nbytes == 8
assert not result.is_read_only
again = session(x=x, y=x, out={"distance": result})
assert again is result
try:
    session([[1, 2, 3, 4]], x)
except TypeError as error:
    assert "need NumPy" in str(error), error
else:
    raise AssertionError("a list was converted")
strings = scopevm.Session(scopevm.compile("tests/corpus/models/strings.mlir"))
results = strings(["a", b"red"], array.array("q", [1, 2]))
assert results.upper.strings() == ["A", "RED"]
assert memoryview(results.same).tolist() == [False, True]
assert results.upper.dtype == "str"
try:
    memoryview(results.upper)
except BufferError:
    pass
else:
    raise AssertionError("a string tensor has a buffer")
print(session.module.bound(n=2)["global"], "numpy" in [m for m in sys.modules if sys.modules[m]])
"""


def test_results_without_numpy():
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=os.environ, check=False,
                          capture_output=True, text=True, timeout=300)
    assert (done.stderr, done.stdout) == ("", "8 False\n")
