#!/usr/bin/env bash
# bound_is_used.sh MODULE THREADS DIM=VALUE INPUT=random:...: compares the bytes that `bound` prints
# for each scope with the bytes that `run` uses.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
scopevm bound "$1" "$3" --threads "$2" --json >"$scratch/bound"
scopevm run "$1" --input "$4" --threads "$2" --repeat 3 --json >"$scratch/run"

# Prints the bound and the lower bound of each scope, one line per scope. The regular expression does
# not match the scopes in the list "lines" of `bound`, which have no field "bound_bytes".
scopes() {
  tr -d ' ,"\n' <"$1" | grep -oE 'scope:[a-z.]+,?bound_bytes:[0-9]+(peak_bytes:[0-9]+)?lower_bound_bytes:[0-9]+' |
    sed -E 's/peak_bytes:[0-9]+//' | sort
}
diff <(scopes "$scratch/bound") <(scopes "$scratch/run")
[[ $(scopes "$scratch/run" | wc -l) == 2 ]] || { echo "expected two scopes"; exit 1; }

value() { grep -oE "\"$1\": [0-9]+" "$scratch/run" | grep -oE '[0-9]+$'; }
diff <(value bound_bytes) <(value peak_bytes)
[[ $(value allocations | sort -u) == 1 ]] || { echo "not one allocation per scope"; exit 1; }
