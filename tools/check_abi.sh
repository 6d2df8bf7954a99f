#!/usr/bin/env bash
# Compares the binary interface of a C library with its stored description: programs that were built
# with an earlier version must work. Functions, enumerators and members at the end of structs can be
# added. With --renew, writes the description.
#
#   tools/check_abi.sh LIBRARY HEADERS DESCRIPTION [--renew]
#
# LIBRARY has debug information, and HEADERS is the folder with the types that programs know.
set -euo pipefail
library=$1 headers=$2 description=$3
suppressions=$(dirname "$0")/abi_suppressions.ini

describe() {
  abidw --suppressions "$suppressions" --headers-dir "$headers" --drop-private-types \
    --exported-interfaces-only --no-corpus-path --no-show-locs --no-comp-dir-path --no-elf-needed \
    --no-parameter-names --out-file "$1" "$library"
}

if [[ ${4-} == --renew ]]; then
  describe "$description"
  exit
fi
[[ -f $description ]] || { echo "check_abi: $description is missing"; exit 1; }
found=$(mktemp) changes=$(mktemp)
trap 'rm -f "$found" "$changes"' EXIT
describe "$found"
# The suppression of structs with a new member at the end also hides other changes of members.
abidiff --no-added-syms "$description" "$found" >"$changes" || true
if grep -qE 'data member (change|deletion)' "$changes" ||
  ! abidiff --suppressions "$suppressions" --no-added-syms "$description" "$found" >/dev/null; then
  cat "$changes"
  echo "check_abi: $library differs from $description"
  exit 1
fi
