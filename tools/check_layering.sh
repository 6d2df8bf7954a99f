#!/usr/bin/env bash
# Checks who includes whom: include <- runtime <- vm <- tools, and the compiler sees only include, the
# instruction set and the module format. Third-party headers are allowed folder by folder. Prints
# file:line of each offence; exits with 1 if there is any.
set -euo pipefail
cd "$(dirname "$0")/.."

# folder | prefixes of our own headers | prefixes of third-party headers
kRules='
include/scopevm | scopevm/ |
runtime         | scopevm/ runtime/ | boost/context/ tbb/ oneapi/tbb/ CL/
vm              | scopevm/ runtime/ vm/ | flatbuffers/ xxhash.h
compiler        | scopevm/ vm/isa/ vm/format/ compiler/ | nlohmann/ llvm/ mlir/ lld/ onnx/ google/protobuf/ flatbuffers/ xxhash.h
tools           | scopevm/ runtime/ vm/ tools/ compiler/ | CLI/ nlohmann/ fmt/ llvm/ mlir/
'
# `scopevm` must start without the compiler: everything in tools but these is free of it.
kCompilerTools='^tools/(opt|docgen)/'

offences=0
while IFS='|' read -r folder own third; do
  folder=${folder//[[:space:]]/}
  [[ -n $folder && -d $folder ]] || continue
  while IFS= read -r hit; do
    header=$(sed -E 's/.*#\s*include\s*["<]([^">]*)[">].*/\1/' <<<"$hit")
    allowed=0
    for prefix in $own $third; do [[ $header == "$prefix"* ]] && allowed=1; done
    # A header without a folder is the C++ library's, the system's, or the next file's.
    [[ $header == */* ]] || allowed=1
    [[ $header =~ ^(sys|linux|unicode)/ ]] && allowed=1
    if [[ $header =~ ^(compiler|llvm|mlir)/ && $hit == tools/* && ! $hit =~ $kCompilerTools ]]; then
      allowed=0
    fi
    if ((!allowed)); then
      echo "${hit%%:*}:$(cut -d: -f2 <<<"$hit"): $folder may not include $header"
      offences=$((offences + 1))
    fi
  done < <(grep -rnE --include='*.h' --include='*.cpp' --include='*.c' \
    '^\s*#\s*include\s*["<][^">]*/' "$folder" || true)
done <<<"$kRules"

((offences == 0)) || { echo "check_layering: $offences offences"; exit 1; }
