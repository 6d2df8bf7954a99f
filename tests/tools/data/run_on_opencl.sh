#!/usr/bin/env bash
# run_on_opencl.sh BIN_FOLDER MODEL MACHINE: runs the digits model with several placement rules.
# Compares the results with those of the CPU, and the copied bytes of a call with those that
# `explain` prints. tests/on_opencl.sh runs this script.
set -euo pipefail
PATH="$1:$PATH"
model=$2
machine=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scopevm compile "$model" -o "$folder/cpu.bc"
scopevm run "$folder/cpu.bc" --input image=random:5x1x8x8 --output "probability=$folder/cpu.npy" >"$folder/log"
for rule in '*=gpu' 'type:conv=gpu' 'type:matmul=gpu' 'output:*=gpu'; do
  scopevm compile "$model" --machine "$machine" --place "$rule" -o "$folder/gpu.bc"
  scopevm run "$folder/gpu.bc" --input image=random:5x1x8x8 --output "probability=$folder/gpu.npy" --json \
    --trace "$folder/trace.json" \
    >"$folder/run.json"
  # Pools over memory of the device's driver.
  scopevm run "$folder/gpu.bc" --input image=random:5x1x8x8 --repeat 3 \
    --output "probability=$folder/pool.npy" --allocator global=pool \
    --allocator global.workspace=pool:chunk=64KiB >"$folder/log"
  cmp "$folder/gpu.npy" "$folder/pool.npy"
  # Recordings and the debugger read the memory of devices.
  scopevm run "$folder/gpu.bc" --input image=random:5x1x8x8 --record "$folder/gpu.rec" >"$folder/log"
  scopevm replay "$folder/gpu.rec" --device gpu=opencl:0 | grep -q '^equal: '
  printf 'break nan\nrun\nprint probability\n' |
    scopevm debug "$folder/gpu.bc" n=5 --device gpu=opencl:0 | grep -q '^probability.*: f32\[5, 10\]'
  scopevm explain "$model" --machine "$machine" --place "$rule" --copies --dim n=5 --json >"$folder/explain.json"
  python3 - "$folder" "$rule" <<'PYTHON'
import json, struct, sys

def floats(path):
    data = open(path, "rb").read()
    header = struct.unpack("<H", data[8:10])[0]
    body = data[10 + header:]
    return struct.unpack("<%df" % (len(body) // 4), body)

folder, rule = sys.argv[1:]
expected, found = floats(folder + "/cpu.npy"), floats(folder + "/gpu.npy")
assert len(expected) == len(found) == 50, (rule, len(found))
worst = max(min(abs(a - b), abs(a - b) / max(abs(a), 1e-30)) for a, b in zip(expected, found))
assert worst < 1e-4, (rule, worst)
copied = sum(copy["bytes"] for copy in json.load(open(folder + "/run.json"))["copies"])
explained = sum(copy["bytes"] for copy in json.load(open(folder + "/explain.json"))["copies"])
assert copied == explained > 0, (rule, copied, explained)
events = json.load(open(folder + "/trace.json"))["traceEvents"]
tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
for track in ("caller", "device gpu"):
    traced = sum(e["args"]["bytes"] for e in events if e["ph"] == "X" and e["cat"] == "copy" and
                 tracks[e["tid"]] == track)
    assert traced == copied, (rule, track, traced, copied)
PYTHON
done
