#!/usr/bin/env bash
# Places what the tests of a folder have placed once more, and compares.
#
#   tests/placement/twice.sh FOLDER
#
# The options are those of a test's first RUN line with --sv-place; tests of errors have no result.
set -euo pipefail
folder=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cases=0
for test in "$folder"/*/*.test; do
  line=$(grep -m1 -E 'RUN: .*--sv-place="[^"]*" %s.mlir' "$test" || true)
  [[ -n $line && $line != *"RUN: fails"* ]] || continue
  options=$(sed -E 's/.*--sv-place="([^"]*)".*/\1/' <<<"$line")
  options=--sv-place=${options//%S/$(dirname "$test")}
  before=$(sed -nE 's/.*RUN: scopevm-opt (--sv-fuse )?--sv-place.*/\1/p' <<<"$line")
  # shellcheck disable=SC2086 # no word at all where there is no such pass
  scopevm-opt $before "$options" "$test.mlir" >"$scratch/once"
  scopevm-opt "$options" "$scratch/once" >"$scratch/again"
  diff -u "$scratch/once" "$scratch/again" >&2 || { echo "$test: the second run differs" >&2; exit 1; }
  cases=$((cases + 1))
done
echo "$cases cases"
