#!/usr/bin/env bash
# check_library.sh LIBRARY: fails if libscopevm_compiler.so exports a symbol outside the API, links
# libscopevm, or has a function of the C API without a version.
set -euo pipefail
library=$1
exported=$(nm -D --defined-only -C "$library" | grep -v ' A ' | grep -v ' U ')
foreign=$(grep -vE '^[0-9a-f]+ . scopevm(::|_)' <<<"$exported" || true)
[[ -z $foreign ]] || { echo "exports symbols outside the API:"; echo "$foreign"; exit 1; }
inner=$(grep -E ' [TDBR] scopevm::(compiler|runtime|vm|format|isa)::' <<<"$exported" || true)
[[ -z $inner ]] || { echo "exports symbols of internal namespaces:"; echo "$inner"; exit 1; }
unversioned=$(nm -D --defined-only "$library" | grep ' T scopevm_' | grep -v '@@SCOPEVM_COMPILER_' || true)
[[ -z $unversioned ]] || { echo "functions without a version:"; echo "$unversioned"; exit 1; }
if ldd "$library" | grep 'libscopevm\.so'; then echo "links libscopevm"; exit 1; fi
