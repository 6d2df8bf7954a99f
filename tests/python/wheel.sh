#!/usr/bin/env bash
# Builds a wheel from a build, installs it into a new environment without network, and runs it:
#   wheel.sh PYTHON BUILD MODEL
set -euo pipefail
python=$1 build=$(realpath "$2") model=$(realpath "$3")
source=$(realpath "$(dirname "$0")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "wheel: $*" >&2; exit 1; }

cp -r "$source/python" "$scratch/python"
cd "$scratch"
SCOPEVM_BUILD=$build SCOPEVM_SOURCE=$source "$python" -m pip wheel --quiet --no-index --no-deps \
  --no-build-isolation --wheel-dir wheels ./python
wheel=$(echo wheels/*.whl)
[[ $wheel == wheels/scopevm-*-cp311-abi3-linux_*.whl ]] || fail "name of the wheel: $wheel"
contents=$("$python" -m zipfile --list "$wheel")
for file in _native.abi3.so libscopevm.so. __init__.py _native.pyi py.typed; do
  [[ $contents == *scopevm/$file* ]] || fail "no $file in $wheel"
done

"$python" -m venv environment
environment/bin/pip install --quiet --no-index --no-deps "$wheel"
"$build/bin/scopevm" compile "$model" -o distance.bc
env -i PATH=/usr/bin:/bin environment/bin/python - <<'END'
import array
import scopevm
session = scopevm.Session(scopevm.Module.load("distance.bc"))
x = memoryview(array.array("f", [3, 4, 0, 0])).cast("B").cast("f", (1, 4))
y = memoryview(array.array("f", [0, 0, 0, 0])).cast("B").cast("f", (1, 4))
assert memoryview(session(x, y)).tolist() == [[5.0]]
maps = open("/proc/self/maps", encoding="ascii").read().split()
loaded = {path for path in maps if "libscopevm.so" in path}
assert all("/environment/lib/" in path for path in loaded) and len(loaded) == 1, loaded
try:
    scopevm.compile("model.onnx")
except scopevm.CompilerNotFound:
    pass
else:
    raise AssertionError("the wheel has no compiler")
END
echo "wheel: ok"
