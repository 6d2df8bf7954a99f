#!/usr/bin/env bash
# check_library.sh LIBRARY plain|sanitized: fails if libscopevm.so links a forbidden library, is too
# large after stripping, or exports a symbol outside the API. Of a sanitized library, it checks only
# the linked libraries.
set -euo pipefail
library=$1
bad=$(ldd "$library" | grep -iE 'llvm|mlir|protobuf|gomp|libomp|iomp|onnx|opencl|boost|dnnl' || true)
[[ -z $bad ]] || { echo "links what it must not:"; echo "$bad"; exit 1; }
[[ $2 == plain ]] || exit 0
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$library"
size=$(stat -c %s "$stripped")
((size < 1500000)) || { echo "stripped it has $size bytes"; exit 1; }
# Weak, unique and absolute symbols are ignored: the weak ones include inline functions and
# templates of the standard library. Every other exported symbol must be in namespace scopevm or
# start with scopevm_. Functions and variables of the internal namespaces must not be exported.
foreign=$(nm -D --defined-only -C "$library" | grep -vE ' [wWvVuA] ' | grep -vE ' scopevm(::|_)| (typeinfo|typeinfo name|vtable) for scopevm::' || true)
[[ -z $foreign ]] || { echo "exports what is not API:"; echo "$foreign"; exit 1; }
inner=$(nm -D --defined-only -C "$library" | grep -E ' [TDBR] scopevm::(runtime|vm|format|isa)::' || true)
[[ -z $inner ]] || { echo "exports inner symbols:"; echo "$inner"; exit 1; }
