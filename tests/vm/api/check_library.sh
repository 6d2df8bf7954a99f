#!/usr/bin/env bash
# check_library.sh LIBRARY plain|sanitized: fails if libscopevm.so links a forbidden library, is too
# large after stripping, or exports a symbol outside the API. Of a sanitized library, it checks only
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
# Every exported symbol must be in namespace scopevm or start with scopevm_. The absolute one is the
# name of the version. Functions and variables of the internal namespaces must not be exported.
foreign=$(nm -D --defined-only -C "$library" | grep -v ' A ' | grep -vE '^[0-9a-f]+ . ((typeinfo|typeinfo name|vtable) for )?scopevm(::|_)' || true)
[[ -z $foreign ]] || { echo "exports symbols outside the API:"; echo "$foreign"; exit 1; }
inner=$(nm -D --defined-only -C "$library" | grep -E ' [TDBR] scopevm::(runtime|vm|format|isa)::' || true)
[[ -z $inner ]] || { echo "exports symbols of internal namespaces:"; echo "$inner"; exit 1; }
unversioned=$(nm -D --defined-only "$library" | grep ' T scopevm_' | grep -v '@@SCOPEVM_' || true)
[[ -z $unversioned ]] || { echo "functions of the C API without a version:"; echo "$unversioned"; exit 1; }
