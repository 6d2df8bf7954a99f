#!/usr/bin/env bash
# Runs one golden test: all `RUN:` lines of the file, in order. Each line must succeed.
#
#   tests/golden.sh BIN_FOLDER FILE            GOLDEN_BLESS=1 rewrites what `same_as` compares with
#
# In a line, %s is the file, %S its folder, %t a prefix for the test's temporary files, %root the
# source folder, and %build the build folder. The programs in BIN_FOLDER, FileCheck and these two
# commands are available:
#   fails CODE COMMAND...    runs COMMAND, which must exit with CODE; its stderr becomes stdout
#   same_as FILE             standard input must equal FILE
set -euo pipefail
bin=$(cd "$1" && pwd)
file=$(realpath "$2")
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH="$bin:/usr/lib/llvm-19/bin:$PATH"

fails() {
  local wanted=$1 code=0
  shift
  "$@" 2>&1 || code=$?
  [[ $code == "$wanted" ]] || { echo "exit code $code, expected $wanted: $*" >&2; return 1; }
}

same_as() {
  if [[ -n ${GOLDEN_BLESS-} ]]; then
    mkdir -p "$(dirname "$1")"
    cat >"$1.new"  # not $1: the command before the pipe can still be reading it
    mv "$1.new" "$1"
  else
    diff -u "$1" -
  fi
}
export -f fails same_as

runs=0
while IFS= read -r line; do
  line=${line//%root/$root}
  line=${line//%build/$bin/..}
  line=${line//%s/$file}
  line=${line//%S/$(dirname "$file")}
  line=${line//%t/$scratch/t}
  if ! bash -e -o pipefail -c "$line"; then
    echo "$file: failed: $line" >&2
    exit 1
  fi
  runs=$((runs + 1))
done < <(sed -nE 's/.*RUN: +(.*)/\1/p' "$file")
((runs > 0)) || { echo "$file: no RUN line" >&2; exit 1; }
