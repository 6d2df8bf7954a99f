#!/usr/bin/env bash
# Checks that a test calls every function of the C API: check_functions.sh HEADERS_FOLDER TEST
set -euo pipefail
functions=$(cat "$1"/*.h | grep -v '^ \*' | grep -v '_free()' | grep -oE 'SCOPEVM_API [a-z_0-9 *]*\bscopevm_[a-z_]+\(' | grep -oE 'scopevm_[a-z_]+\($' | sort -u)
[[ -n $functions ]]
for function in $functions; do
  grep -qF "$function" "$2" || { echo "$2 does not call $function)"; exit 1; }
done
