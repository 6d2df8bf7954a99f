#!/usr/bin/env bash
# Installs the build into an empty prefix. Then runs every command, and builds and runs every
# example from there, in an empty environment:
#   installed.sh BUILD C_COMPILER CXX_COMPILER
set -euo pipefail
build=$1 cc=$2 cxx=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
modules=$scratch/modules
examples=$prefix/share/doc/scopevm/examples
mkdir "$modules"

fail() { echo "installed: $*" >&2; exit 1; }

# Runs a command in an environment that contains PATH only.
clean() { env -i PATH="$prefix/bin:/usr/bin:/bin" "$@"; }

# Installs the given components into a folder, through DESTDIR, as packages do.
install_to() {
  local folder=$1 component
  shift
  for component in "$@"; do
    DESTDIR=$scratch/stage cmake --install "$build" --prefix /opt --component "$component" \
      >/dev/null
  done
  mv "$scratch/stage/opt" "$folder"
}

# Fails unless the output of the command contains the text.
prints() {
  local text=$1 output
  shift
  output=$(clean "$@" 2>&1) || fail "exit code $?: $*: $output"
  [[ $output == *"$text"* ]] || fail "$*: expected \"$text\", got: $output"
}

runtime_component() {
  local folder=$scratch/runtime found
  install_to "$folder" runtime command
  found=$(find "$folder" -name '*compile*' -o -name 'scopevm-opt*' -o -name '*.h' -o -name '*.a' -o -name '*.md')
  [[ -z $found ]] || fail "component runtime contains $found"
  if ldd "$folder/bin/scopevm" | grep -E 'LLVM|MLIR|protobuf|not found'; then
    fail "component runtime needs these libraries"
  fi
  clean "$folder/bin/scopevm" --version >/dev/null
  if found=$(clean "$folder/bin/scopevm" compile x.onnx 2>&1); then fail "compiled without a compiler"; fi
  [[ $found == "scopevm: scopevm-compile not found in "* ]] || fail "without the compiler: $found"
}

# Each command of `scopevm --help`, so that a new command fails here until it is added.
command_arguments() {
  local digits=$modules/digits.bc image="image=$examples/digits/five.npy"
  case $1 in
    compile) echo "$examples/digits/digits.onnx -o $digits" ;;
    explain) echo "$examples/digits/digits.onnx --shapes" ;;
    machine) ;;
    run) echo "$digits --input $image --record $modules/digits.rec" ;;
    replay) echo "$modules/digits.rec" ;;
    compare-runs) echo "$modules/digits.rec $modules/digits.rec" ;;
    debug) echo "$digits --input $image" ;;
    bench) echo "$digits --input $image --requests 2 --warm-up 1" ;;
    serve) echo "--check $modules" ;;
    dis) echo "$digits -o $modules/digits.s" ;;
    asm) echo "$modules/digits.s -o $modules/again.bc" ;;
    inspect | verify) echo "$digits" ;;
    sign) echo "--new-key $modules/key" ;;
    bound) echo "$digits n=5" ;;
    alloc) echo "record -o $modules/scopevm.mt -- scopevm --version" ;;
    help) ;;
    *) fail "no arguments for the command $1" ;;
  esac
}

commands() {
  local names name arguments
  names=$(clean scopevm --help | sed -n '/^Subcommands:/,$s/^  \([a-z-]\+\) .*/\1/p')
  [[ $names == *compile* ]] || fail "no commands in scopevm --help"
  for name in $names; do
    read -ra arguments <<<"$(command_arguments "$name")"
    clean scopevm "$name" "${arguments[@]}" </dev/null &>"$scratch/output" || fail "scopevm $name: $(<"$scratch/output")"
  done
  cmp "$modules/digits.bc" "$modules/again.bc"
  prints sv.sub scopevm-opt --sv-simplify "$examples/distance/distance.mlir"
}

manuals() {
  local page
  for page in scopevm scopevm-opt; do
    [[ -s $prefix/share/man/man1/$page.1 ]] || fail "no man page of $page"
  done
  grep -q 'target\\-cpu' "$prefix/share/man/man1/scopevm.1" || fail "man page without --target-cpu"
  grep -q 'scopevm alloc plan' "$prefix/share/man/man1/scopevm.1" || fail "man page without alloc"
  prints --target-cpu bash -c "
    source '$prefix/share/bash-completion/completions/scopevm'
    COMP_WORDS=(scopevm compile --target) COMP_CWORD=2
    _scopevm; echo \"\${COMPREPLY[@]}\""
  prints --sv-simplify bash -c "
    source '$prefix/share/bash-completion/completions/scopevm-opt'
    COMP_WORDS=(scopevm-opt --sv-simp) COMP_CWORD=1
    _scopevm_opt; echo \"\${COMPREPLY[@]}\""
}

# Builds a project with CMake against a prefix, in the folder $scratch/NAME.
cmake_project() {
  local name=$1 folder=$2 from=$3
  clean cmake --no-warn-unused-cli -S "$folder" -B "$scratch/$name" -DCMAKE_PREFIX_PATH="$from" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null &&
    clean cmake --build "$scratch/$name" >/dev/null
}

cmake_example() { cmake_project "$1" "$examples/$1" "$2"; }

cmake_static_library() {
  mkdir "$scratch/static_source"
  cat >"$scratch/static_source/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(run_module LANGUAGES C CXX)
find_package(scopevm REQUIRED COMPONENTS static)
add_executable(run_module $examples/c/main.c)
target_link_libraries(run_module PRIVATE scopevm::static)
END
  cmake_project static "$scratch/static_source" "$prefix"
  prints 'distance: 5 0' "$scratch/static/run_module" "$modules/distance.bc"
  if ldd "$scratch/static/run_module" | grep libscopevm; then fail "scopevm::static is shared"; fi
}

cmake_examples() {
  # Without the compiler's component, an example of the runtime builds, and one of the compiler does
  # not.
  install_to "$scratch/small" runtime command development
  cmake_example c "$scratch/small"
  [[ ! -e $scratch/c/compile_and_run ]] || fail "built compile_and_run without the compiler"
  if (cmake_example compile "$scratch/small") 2>"$scratch/errors"; then
    fail "find_package found the component compiler, which is not installed"
  fi
  grep -q 'The component "compiler" of scopevm is not installed' "$scratch/errors" ||
    fail "unexpected error: $(<"$scratch/errors")"
  rm -rf "$scratch/c" "$scratch/compile" "$scratch/small"

  cmake_example embed "$prefix"
  cmake_example c "$prefix"
  cmake_example compile "$prefix"
  prints 'probability:' "$scratch/embed/embed" "$modules/digits.bc" n=2
  prints 'distance: 5 0' "$scratch/c/run_module" "$modules/distance.bc"
  prints 'main ran in' "$scratch/c/any_module" "$modules/digits.bc" n=2
  prints 'output 0: ' "$scratch/c/compile_and_run" "$examples/digits/digits.onnx" dim=n=4
  prints 'output probability' "$scratch/compile/compile_model" "$examples/digits/digits.onnx"

  cmake_example generate "$prefix"
  clean scopevm compile "$examples/generate/tiny.mlir" --dim 'past>=0' --state past=present \
    -o "$modules/tiny.bc"
  clean /usr/bin/python3 "$(dirname "$0")/generate.py" "$scratch/generate/generate" \
    "$modules/tiny.bc" "$examples/generate/tiny.mlir" "$modules/distance.bc"

  cmake_example external "$prefix"
  clean scopevm compile "$examples/external/interleave.mlir" -o "$modules/interleave.bc"
  prints '-1 -2' "$scratch/external/run_external" "$modules/interleave.bc"
}

# The flags of a package for the compiler and the linker.
flags_of() { clean PKG_CONFIG_PATH="$(dirname "$pc")" pkg-config --cflags --libs "$@"; }

pkg_config_examples() {
  local pc flags libraries
  pc=$(find "$prefix" -name scopevm.pc)
  libraries=$(dirname "$(dirname "$pc")")
  read -ra flags <<<"$(flags_of scopevm)"
  clean "$cc" "$examples/c/main.c" "${flags[@]}" "-Wl,-rpath,$libraries" -o "$scratch/shared"
  prints 'distance: 5 0' "$scratch/shared" "$modules/distance.bc"

  read -ra flags <<<"$(flags_of scopevm-static)"
  clean "$cc" "$examples/c/main.c" "${flags[@]}" -o "$scratch/archive"
  prints 'distance: 5 0' "$scratch/archive" "$modules/distance.bc"
  if ldd "$scratch/archive" | grep libscopevm; then fail "the static example needs libscopevm"; fi

  read -ra flags <<<"$(flags_of scopevm scopevm-compiler)"
  clean "$cxx" -std=c++20 "$examples/compile/main.cpp" "${flags[@]}" \
    "-Wl,-rpath,$libraries" -o "$scratch/compiled"
  prints 'output probability' "$scratch/compiled" "$examples/digits/digits.onnx"
}

# The Python package, if it is built, finds the libraries of the prefix.
python_package() {
  [[ -f $build/python/scopevm/_native.abi3.so ]] || return 0
  prints 'distance: f32[n, 1]' PYTHONPATH="$prefix/lib/python3/dist-packages" /usr/bin/python3 -c \
    'import scopevm, sys; print(scopevm.compile(sys.argv[1]))' "$examples/distance/distance.mlir"
}

runtime_component
install_to "$prefix" runtime command lab compiler opt serve development python
commands
clean scopevm compile "$examples/distance/distance.mlir" -o "$modules/distance.bc"
manuals
python_package
cmake_examples
cmake_static_library
pkg_config_examples
