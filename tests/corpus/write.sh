#!/usr/bin/env bash
# Adds modules to the corpus of module files (docs/testing.md): compiles the graphs of
# tests/corpus/models with this build into tests/corpus/VERSION, where VERSION is the version of the
# module format that the build writes. Also stores the tables of the version that must not change:
# the schema and the opcodes. Files of other versions are not changed. With names, compiles only
# those models.
#
#   tests/corpus/write.sh build/release/bin [NAME...]
set -euo pipefail
bin=$(realpath "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
corpus=tests/corpus
export PATH=$bin:$PATH

# Each model has an image for every x86-64 CPU with SSE4.2, and images for AVX2 and AVX-512.
kTargets=(--target-cpu x86-64-v2 --target-cpu x86-64-v3 --target-cpu x86-64-v4)

probe=$(mktemp)
trap 'rm -f "$probe"' EXIT
scopevm compile $corpus/models/dense.mlir -o "$probe"
version=$(scopevm inspect "$probe" --json | sed -n 's/^ *"format": "\(.*\)",$/\1/p')
[[ -n $version ]] || { echo "write.sh: scopevm inspect prints no version" >&2; exit 1; }
mkdir -p $corpus/"$version"

for cases in $corpus/models/*.cases; do
  name=$(basename "$cases" .cases)
  (($# == 0)) || [[ " $* " == *" $name "* ]] || continue
  options=()
  [[ -f $corpus/models/$name.options ]] && read -ra options <$corpus/models/"$name".options
  scopevm compile $corpus/models/"$name".mlir "${kTargets[@]}" "${options[@]}" \
    -o $corpus/"$version"/"$name".bc
  cp "$cases" $corpus/"$version"/"$name".cases
done
cp vm/format/schema/module.fbs vm/isa/opcodes.def $corpus/"$version"/
du -sb $corpus/"$version"
