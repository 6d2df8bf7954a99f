#!/usr/bin/python3
"""Generates cases for the ONNX ops that opsets 18 to 27 add or change, and for ops of older opsets
that the public conformance data hardly covers.

NumPy code in references/ computes the expected results. It follows the text of the operator
specification and is independent of the compiler.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "onnx_cases"))

import case_file  # noqa: E402
from references import attention, elementwise, einsum, language, movement, normalisation  # noqa: E402
from references import pools, recurrent, reductions, resize, sampling, sequences  # noqa: E402
from references import small_types, strings, transforms  # noqa: E402


def write_cases():
    for group in (attention, elementwise, einsum, language, movement, normalisation, pools,
                  recurrent, reductions, resize, sampling, sequences, small_types, strings,
                  transforms):
        group.write_cases()


if __name__ == "__main__":
    case_file.main(write_cases)
