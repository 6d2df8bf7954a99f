#!/usr/bin/env bash
# Checks that a test calls every function of the C API: check_functions.sh TEST HEADER...
set -euo pipefail
test=$1
shift
functions=$(cat "$@" | grep -v '^ \*' | grep -v '_free()' | grep -oE 'SCOPEVM_API [a-z_0-9 *]*\bscopevm_[a-z_]+\(' | grep -oE 'scopevm_[a-z_]+\($' | sort -u)
[[ -n $functions ]]
for function in $functions; do
  grep -qF "$function" "$test" || { echo "$test does not call $function)"; exit 1; }
done
