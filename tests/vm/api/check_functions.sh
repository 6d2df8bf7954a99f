#!/usr/bin/env bash
# Checks that a test calls every function of the C API: check_functions.sh HEADER TEST
set -euo pipefail
functions=$(grep -oE '\bscopevm_[a-z_]+\(' <(grep -v '^ \*' "$1") | grep -v '_free()' | sort -u)
[[ -n $functions ]]
for function in $functions; do
  grep -qF "$function" "$2" || { echo "$2 does not call $function)"; exit 1; }
done
