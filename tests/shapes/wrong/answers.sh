#!/usr/bin/env bash
# Prints a file of wrong shapes with the answers that the programs give now; the test compares that with
# the file itself. scopevm must be on the PATH.
#
#   # text              says what the mistakes below it are
#   model               a graph's text follows, indented
#   onnx FILE           an ONNX file of this folder
#   compile [ARGS]      scopevm compile of that model
#   run NAME=DIMS ...   scopevm run of the compiled module with random inputs of these dims; an
#                       argument that begins with -- or NAME=FILE.npy is passed as it is
#   bound ARGS          scopevm bound
#
# Two spaces and what the command said follow each, and "(exit CODE)" where that is not 1; a command that
# succeeds says "ok".
set -euo pipefail
command -v scopevm >/dev/null || { echo "scopevm is not on the PATH" >&2; exit 1; }
folder=$(cd "$(dirname "$1")" && pwd)
file=$folder/$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

answer() {
  local code=0 said
  said=$("$@" 2>&1) || code=$?
  case $code in
    0) echo "  ok" ;;
    1) sed 's/^scopevm: /  /; s/^\([^ ]\)/  \1/' <<<"$said" ;;
    *) echo "  ${said#scopevm: } (exit $code)" ;;
  esac
}

run_arguments() {
  local argument
  for argument in "$@"; do
    case $argument in
      --*) echo "$argument" ;;
      *.npy) printf '%s\n' --input "${argument%%=*}=$folder/${argument#*=}" ;;
      *) printf '%s\n' --input "${argument%%=*}=random:${argument#*=}" ;;
    esac
  done
}

model=model.mlir
is_string=0
mapfile -t lines <"$file"  # all of it first: a new version may be written to the same place
for line in "${lines[@]}"; do
  read -ra words <<<"$line"
  case $line in
    "  "*)
      ((is_string)) || continue
      echo "${line#  }" >>model.mlir
      ;;
    model) is_string=1 model=model.mlir && rm -f model.mlir ;;
    *) is_string=0 ;;
  esac
  echo "$line"
  case ${words[0]-} in
    onnx) model=${words[1]} && cp "$folder/$model" . ;;
    compile) answer scopevm compile "$model" -o model.bc "${words[@]:1}" ;;
    run)
      mapfile -t arguments < <(run_arguments "${words[@]:1}")
      answer scopevm run model.bc "${arguments[@]}"
      ;;
    bound) answer scopevm bound model.bc "${words[@]:1}" ;;
  esac
done
