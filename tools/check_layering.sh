#!/usr/bin/env bash
# Checks the include directives of the project's sources:
#   libraries   include <- runtime <- vm <- tools: each folder may include the folders to its left.
#               The compiler may include only include, the instruction set, the module format and
#               a few files of the runtime. The plug-ins plugins/dnnl and plugins/triton and the
#               extension module python/native may include only include, and the planning library
#               runtime/plan in addition one header of the runtime. Third-party headers are allowed folder by folder.
#   compiler    a folder includes only itself and folders above it in kStages
#   cycles      no two folders include each other, directly or through others, except a folder and
#               its own subfolder
# Prints each offence: file:line of an include, or the folders of a cycle. Exits with 1 if there is
# any.
set -euo pipefail
cd "$(dirname "$0")/.."

# folder | prefixes of our own headers | prefixes of third-party headers
kRules='
include/scopevm | scopevm/ | dlpack/
runtime         | scopevm/ runtime/ | tbb/ oneapi/tbb/ CL/
runtime/plan    | scopevm/ runtime/plan/ runtime/without_exceptions.h |
python/native   | scopevm/ python/native/ |
plugins/dnnl    | scopevm/ plugins/dnnl/ | nlohmann/
plugins/mpi     | scopevm/ plugins/mpi/ | mpi.h
plugins/triton  | scopevm/ plugins/triton/ | nlohmann/
vm              | scopevm/ runtime/ vm/ | flatbuffers/ xxhash.h boost/context/
compiler        | scopevm/ runtime/c_api/c_arguments.h runtime/count_text.h runtime/name_text.h runtime/nearest_name.h runtime/quoted.h runtime/state_pairs.h runtime/string/utf8.h runtime/without_exceptions.h runtime/blocked_signals.h runtime/process/available_cpus.h runtime/cpu/cpu_features.def runtime/tensor/dlpack_type.h runtime/tensor/small_type.h vm/isa/ vm/format/ compiler/ | nlohmann/ llvm/ mlir/ lld/ onnx/ google/protobuf/ flatbuffers/ xxhash.h
tools           | scopevm/ runtime/ vm/ tools/ compiler/ | CLI/ nlohmann/ fmt/ llvm/ mlir/ clang/ boost/ grpc/ grpcpp/ google/protobuf/ openssl/
'
# `scopevm` must start without the compiler, so only the tools in kCompilerTools include compiler
# headers.
kCompilerTools='^tools/opt/'

# Folders of compiler/ in include order: shared folders, then the parts of the stages, then the
# pipeline and what uses it. Subfolders belong to the nearest listed parent folder.
kStages='
support
options
dims
schedule
machine
program
graph
external
import
split
placement
layouts
fusion
kernels
shapes
memory
simulation
program/transform
codegen
bytecode
passes
pipeline
cache
explain
library
'

# One line per include directive whose header has a folder: file, line, header.
includes=$(grep -rnE --include='*.h' --include='*.cpp' --include='*.c' '^\s*#\s*include\s*["<][^">]*/' \
  include/scopevm runtime plugins python vm compiler tools |
  sed -E 's/^([^:]*):([0-9]+):.*#\s*include\s*["<]([^">]*)[">].*/\1 \2 \3/')

libraries=$(awk -v rules="$kRules" -v tools="$kCompilerTools" '
  BEGIN {
    count = split(rules, lines, "\n")
    for (i = 1; i <= count; ++i) {
      if (split(lines[i], fields, "|") < 3) continue
      gsub(/ /, "", fields[1])
      folders[fields[1]] = fields[2] " " fields[3]
    }
  }
  {
    folder = ""
    for (name in folders)
      if (index($1, name "/") == 1 && length(name) > length(folder)) folder = name
    allowed = $3 ~ /^(sys|linux|unicode)\//
    count = split(folders[folder], prefixes, " ")
    for (i = 1; i <= count; ++i) if (index($3, prefixes[i]) == 1) allowed = 1
    if (folder == "tools" && $3 ~ /^(compiler|llvm|mlir)\// && $1 !~ tools) allowed = 0
    if (!allowed) print $1 ":" $2 ": " folder " may not include " $3
  }' <<<"$includes")

stages=$(awk -v stages="$kStages" '
  BEGIN {
    count = split(stages, lines, "\n")
    for (i = 1; i <= count; ++i) if (lines[i] != "") position[lines[i]] = i
  }
  # The folder of kStages that a file of compiler/ belongs to.
  function stage(path) {
    sub(/^compiler\//, "", path)
    while (sub(/\/[^\/]*$/, "", path)) if (path in position) return path
    return path
  }
  $1 ~ /^compiler\// && $3 ~ /^compiler\// {
    from = stage($1); to = stage($3)
    if (!(from in position)) print $1 ":" $2 ": compiler/" from " is missing from kStages"
    else if (position[to] > position[from] || !(to in position))
      print $1 ":" $2 ": " from " may not include " $3 ": " to " comes after " from " in kStages"
  }' <<<"$includes")

# The includes from one folder to another. A folder and its own subfolder may include each other, so
# one direction between the two is left out: with `down`, includes of subfolders, and with `up`,
# includes of parent folders.
edges() {
  awk -v omitted="$1" '
    {
      from = $1; to = $3
      sub(/^include\//, "", from)
      sub(/\/[^\/]*$/, "", from); sub(/\/[^\/]*$/, "", to)
      if (to !~ /^(compiler|runtime|plugins|vm|tools|scopevm)(\/|$)/ || from == to) next
      if (omitted == "down" && index(to, from "/") == 1) next
      if (omitted == "up" && index(from, to "/") == 1) next
      print from, to
    }' <<<"$includes" | sort -u
}
cycles=''
for omitted in down up; do
  cycles+=$(tsort <<<"$(edges $omitted)" 2>&1 >/dev/null | sed -n 's/^tsort: //p' |
    sed 's/^-: input contains a loop:$/include cycle between folders:/')$'\n' || true
done

offences=$(printf '%s\n' "$libraries" "$stages" "$cycles" | sed '/^$/d')
[[ -z $offences ]] || { echo "$offences"; echo "check_layering: $(wc -l <<<"$offences") offences"; exit 1; }
