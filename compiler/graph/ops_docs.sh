#!/usr/bin/env bash
# Prints docs/ops.md:  ops_docs.sh MLIR_TBLGEN PROJECT MLIR_INCLUDE_FOLDER
set -euo pipefail
"$1" --gen-op-doc -I "$2" -I "$3" "$2/compiler/graph/graph_ops.td" | awk -f "$2/compiler/graph/ops_docs.awk"
