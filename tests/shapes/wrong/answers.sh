#!/usr/bin/env bash
# answers.sh FILE: prints FILE with the current answers of the commands in it. The test compares the
# output with FILE. scopevm must be on the PATH. Each line of FILE that is not indented is one of:
#
#   # text              a comment on the commands below it
#   model               the indented lines that follow are a graph in MLIR assembly
#   onnx FILE           selects an ONNX file of this folder
#   compile [ARGS]      runs scopevm compile on the selected model
#   run NAME=DIMS ...   runs the compiled module with random inputs of these dims. NAME=FILE.npy
#                       reads an input from a file. An argument that begins with -- is an option.
#   bound ARGS          runs scopevm bound
#
# The indented line after a command is its answer: "ok" for success, else the message. An exit code
# other than 1 follows the message as "(exit CODE)".
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
is_model_text=0
mapfile -t lines <"$file"  # the whole file at once, because the output may replace it
for line in "${lines[@]}"; do
  read -ra words <<<"$line"
  case $line in
    "  "*)
      ((is_model_text)) || continue
      echo "${line#  }" >>model.mlir
      ;;
    model) is_model_text=1 model=model.mlir && rm -f model.mlir ;;
    *) is_model_text=0 ;;
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
