#!/usr/bin/env bash
# Prints docs/ops.md:  ops_docs.sh MLIR_TBLGEN PROJECT MLIR_INCLUDE_FOLDER
set -euo pipefail
for definitions in graph_ops.td control/tuples.td; do
  "$1" --gen-op-doc -I "$2" -I "$3" "$2/compiler/graph/$definitions"
done | awk -f "$2/compiler/graph/ops_docs.awk"
