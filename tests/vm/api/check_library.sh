#!/usr/bin/env bash
# check_library.sh LIBRARY plain|sanitized: fails if libscopevm.so links a forbidden library, is too
# large after stripping, or exports a symbol outside the C API. Of a sanitized library, it checks only
# the linked libraries.
set -euo pipefail
library=$1
bad=$(ldd "$library" | grep -iE 'llvm|mlir|protobuf|gomp|libomp|iomp|onnx|opencl|boost|dnnl' || true)
[[ -z $bad ]] || { echo "links forbidden libraries:"; echo "$bad"; exit 1; }
[[ $2 == plain ]] || exit 0
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$library"
size=$(stat -c %s "$stripped")
((size < 1500000)) || { echo "$size bytes after stripping, expected less than 1500000"; exit 1; }
# Every exported symbol must be a function of the C API with a version. The absolute symbol is the
# name of the version.
foreign=$(nm -D --defined-only "$library" | grep -v ' A ' | grep -vE ' T scopevm_[a-z_]+@@SCOPEVM_' || true)
[[ -z $foreign ]] || { echo "exports symbols outside the C API:"; echo "$foreign"; exit 1; }
