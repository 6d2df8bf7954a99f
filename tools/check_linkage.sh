#!/usr/bin/env bash
# Checks the dependencies of the runtime: neither libscopevm nor the scopevm command nor the memory
# laboratory may link LLVM, MLIR, ONNX, protobuf, oneDNN, MPI, OpenMP or OpenCL. (The runtime loads OpenCL
# by name when it first needs it.) The stripped library must be smaller than 1.5 MB. libscopevm_plan
# links only the libraries of C++. The plug-ins of oneDNN and MPI link no library of this project and
# export one function. The back end of Triton links libscopevm and exports the functions that Triton calls.
#
#   tools/check_linkage.sh BUILD_FOLDER
set -euo pipefail
kForbidden='OpenCL|LLVM|MLIR|protobuf|onnx|dnnl|libmpi|libomp|libgomp|libiomp'
kLimit=1500000
build=$1

library=$(find "$1/lib" -name 'libscopevm.so' -print -quit)
[[ -n $library ]] || { echo "check_linkage: libscopevm.so not found in $1"; exit 1; }
for file in "$library" "$1/bin/scopevm" "$1/bin/scopevm-lab"; do
  if found=$(ldd "$file" | grep -E "$kForbidden"); then
    echo "check_linkage: $file depends on forbidden libraries:"
    echo "$found"
    exit 1
  fi
done

plan=$(find "$1" -name 'libscopevm_plan.so' -print -quit)
[[ -n $plan ]] || { echo "check_linkage: libscopevm_plan.so not found in $1"; exit 1; }
kSystem='linux-vdso|ld-linux|libc\.so|libm\.so|libgcc_s|libstdc\+\+|lib[a-z]san|libdl|libpthread|librt|libresolv'
if found=$(ldd "$plan" | grep -vE "$kSystem"); then
  echo "check_linkage: $plan depends on libraries other than those of C++:"
  echo "$found"
  exit 1
fi

check_plug_in() {  # name, the function that it exports
  local plug_in symbols found
  plug_in=$(find "$build" -name "libscopevm_$1.so" -print -quit)
  [[ -n $plug_in ]] || return 0
  symbols=$(nm -D --defined-only "$plug_in" | awk '{ print $3 }')
  if [[ $symbols != "$2" ]]; then
    echo "check_linkage: $plug_in exports, expected $2 only:"
    echo "$symbols"
    exit 1
  fi
  if found=$(ldd "$plug_in" | grep -E 'libscopevm|LLVM|MLIR|protobuf|onnx'); then
    echo "check_linkage: $plug_in depends on forbidden libraries:"
    echo "$found"
    exit 1
  fi
}
check_plug_in dnnl scopevm_external_library_entry
check_plug_in mpi scopevm_transport_entry

triton=$(find "$1/lib" -name 'libtriton_scopevm.so' -print -quit)
if [[ -n $triton ]]; then
  if found=$(nm -D --defined-only "$triton" | awk '{ print $3 }' | grep -v '^TRITONBACKEND_'); then
    echo "check_linkage: $triton exports, expected TRITONBACKEND_ functions only:"
    echo "$found"
    exit 1
  fi
  if found=$(ldd "$triton" | grep -E "$kForbidden|libscopevm_|grpc|simdjson"); then
    echo "check_linkage: $triton depends on forbidden libraries:"
    echo "$found"
    exit 1
  fi
fi

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$(readlink -f "$library")"
size=$(stat -c %s "$stripped")
if ((size >= kLimit)); then
  echo "check_linkage: libscopevm.so is $size bytes stripped, expected less than $kLimit"
  exit 1
fi
echo "libscopevm.so: $size bytes stripped, limit $kLimit"
