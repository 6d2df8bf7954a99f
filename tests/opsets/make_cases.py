#!/usr/bin/python3
"""Writes tests/opsets/cases: a case for each ONNX op that opsets 18 to 22 add or change, and for
ops of older opsets that the public conformance data hardly touches.

Expected values come from plain NumPy loops in references/, written from the text of the operator
specification and independent of the compiler. Same script, same bytes.
"""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import case_file  # noqa: E402
from references import elementwise, einsum, movement, normalisation, pools, recurrent  # noqa: E402
from references import reductions, resize, sampling, sequences, texts, transforms  # noqa: E402


def main():
    shutil.rmtree(case_file.CASES, ignore_errors=True)
    for group in (elementwise, einsum, movement, normalisation, pools, recurrent, reductions, resize,
                  sampling, sequences, texts, transforms):
        group.write_cases()
    count = len(list(case_file.CASES.iterdir()))
    print(f"{count} cases in {case_file.CASES}")


if __name__ == "__main__":
    main()
