#!/usr/bin/env bash
# Places the graphs of all tests in the subfolders of FOLDER, then places the results again. Fails
# if the second placement changes a graph.
#
#   tests/placement/twice.sh FOLDER
#
# The passes of a test are those of its first RUN line that ends with --sv-place="OPTIONS" and the
# test's graph. Tests without such a line are skipped.
set -euo pipefail
folder=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cases=0
for test in "$folder"/*/*.test; do
  line=$(grep -m1 -E '^RUN: scopevm-opt .*--sv-place="[^"]*" %s.mlir' "$test" || true)
  [[ -n $line ]] || continue
  line=${line//%S/$(dirname "$test")}
  passes=$(sed -E 's/^RUN: scopevm-opt (.*) %s.mlir.*/\1/' <<<"$line")
  last=--sv-place${passes##*--sv-place}
  eval "scopevm-opt $passes '$test.mlir'" >"$scratch/once"
  eval "scopevm-opt $last '$scratch/once'" >"$scratch/again"
  diff -u "$scratch/once" "$scratch/again" >&2 || { echo "$test: the second run differs" >&2; exit 1; }
  cases=$((cases + 1))
done
echo "$cases cases"
