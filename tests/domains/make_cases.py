#!/usr/bin/python3
"""Generates cases of one node each for the operators of com.microsoft and ai.onnx.ml, and others.

NumPy code in microsoft/, ml/, standard.py and training.py computes the expected results. `./dev compare-ops`
writes more cases than the tests, and compares with ONNX Runtime: SCOPEVM_CASES_PER_OPERATOR is the
number of cases for each operator, and SCOPEVM_OPERATORS selects operators.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "onnx_cases"))

import case_file  # noqa: E402
import operators  # noqa: E402
import microsoft  # noqa: E402, F401
import ml  # noqa: E402, F401
import standard  # noqa: E402, F401
import training  # noqa: E402, F401

if __name__ == "__main__":
    per_operator = int(os.environ.get("SCOPEVM_CASES_PER_OPERATOR", "6"))
    names = os.environ.get("SCOPEVM_OPERATORS", "").split()
    case_file.main(lambda: operators.write_cases(per_operator, names))
