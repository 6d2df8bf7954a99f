#!/usr/bin/env bash
# tools/check_abi.sh accepts the changes that docs/c-api.md permits, and no others.
#
#   abi_changes.sh CHECK_ABI C_COMPILER
set -euo pipefail
check=$1 compiler=$2
command -v abidw >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/headers"

kOptions='size_t struct_size; int threads; const char* name;'
kCodes='SCOPEVM_A = 0, SCOPEVM_B = 10'
# build OPTIONS CODES FUNCTIONS: a library with these members, enumerators and functions.
build() {
  cat >"$work/headers/api.h" <<END
#include <stddef.h>
typedef struct scopevm_options { $1 } scopevm_options;
enum scopevm_codes { $2 };
END
  printf '#include "headers/api.h"\n%s\n' "$3" >"$work/api.c"
  "$compiler" -g -gdwarf-4 -shared -fPIC -o "$work/library.so" "$work/api.c"
}
kRun='int scopevm_run(const scopevm_options* o, enum scopevm_codes c) { return o->threads + c; }'
kStop='void scopevm_stop(void) {}'

passed=0
expect() {  # accepted|rejected WHAT OPTIONS CODES FUNCTIONS
  local expected=$1 what=$2 result=accepted
  shift 2
  build "$@"
  "$check" "$work/library.so" "$work/headers" "$work/library.abi" >"$work/log" || result=rejected
  if [[ $result != "$expected" ]]; then
    cat "$work/log"
    echo "abi_changes.sh: $what: $result, expected $expected"
    exit 1
  fi
  passed=$((passed + 1))
}

build "$kOptions" "$kCodes" "$kRun $kStop"
"$check" "$work/library.so" "$work/headers" "$work/library.abi" --renew
expect accepted "no change" "$kOptions" "$kCodes" "$kRun $kStop"
expect accepted "a new function" "$kOptions" "$kCodes" "$kRun $kStop void scopevm_new(void) {}"
expect accepted "a new member" "$kOptions long limit;" "$kCodes" "$kRun $kStop"
expect accepted "a new enumerator" "$kOptions" "$kCodes, SCOPEVM_C = 11" "$kRun $kStop"
expect accepted "another function" "$kOptions" "$kCodes" "$kRun $kStop void other(void) {}"
expect rejected "a missing function" "$kOptions" "$kCodes" "$kRun"
expect rejected "another result" "$kOptions" "$kCodes" "${kRun/int/long} $kStop"
expect rejected "one more parameter" "$kOptions" "$kCodes" "$kRun ${kStop/(void)/(int i)}"
expect rejected "a missing member" "${kOptions/const char\* name;/}" "$kCodes" "$kRun $kStop"
expect rejected "a member in the middle" "${kOptions/int/long first; int}" "$kCodes" "$kRun $kStop"
expect rejected "another type" "${kOptions/int/long}" "$kCodes" "$kRun $kStop"
expect rejected "another order" "size_t struct_size; const char* name; int threads;" "$kCodes" \
  "$kRun $kStop"
expect rejected "another value" "$kOptions" "${kCodes/10/11}" "$kRun $kStop"
expect rejected "a missing enumerator" "$kOptions" "SCOPEVM_A = 0" "$kRun $kStop"
echo "$passed changes: as expected"
