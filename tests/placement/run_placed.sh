#!/usr/bin/env bash
# Runs a graph on one CPU, and with the given placement. The results must have equal bytes. The
# copies that the placed run counts between two devices must equal those that `scopevm explain
# --copies` lists.
#
#   tests/placement/run_placed.sh GRAPH PLACES DIMS INPUTS OUTPUT...
#
# PLACES are options of `scopevm compile` and `scopevm explain`, DIMS of `scopevm explain`, and
# INPUTS of `scopevm run`. Each OUTPUT is the name of a result. If GRAPH contains places, the
# environment variable PLAIN names the file of the same graph for one CPU.
set -euo pipefail
graph=$1 places=$2 dims=$3 inputs=$4
shift 4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/plain" "$scratch/placed"

# run NAME OPTIONS: runs the module NAME.bc and writes its results to the folder NAME.
run() {
  local name=$1 outputs=()
  shift
  for output in "${results[@]}"; do outputs+=(--output "$output=$scratch/$name/$output.npy"); done
  # shellcheck disable=SC2086 # options, several words each
  scopevm run "$scratch/$name.bc" --seed 1 $inputs "${outputs[@]}" "$@"
}

results=("$@")
# shellcheck disable=SC2086
{
  scopevm compile "${PLAIN-$graph}" -o "$scratch/plain.bc"
  scopevm compile "$graph" $places -o "$scratch/placed.bc"
  scopevm explain "$graph" $places $dims --copies --json >"$scratch/explained.json"
}
run plain >"$scratch/plain.txt"
run placed --json >"$scratch/run.json"
diff -r "$scratch/plain" "$scratch/placed" >&2

# Compares the number of copies and their bytes, for each pair of devices.
python3 - "$scratch/explained.json" "$scratch/run.json" <<'END'
import collections, json, sys
explained, run = (json.load(open(path)) for path in sys.argv[1:])
listed, counted = collections.Counter(), collections.Counter()
ends = lambda copy: tuple(copy[end].split(".")[0] for end in ("from", "to"))
for copy in explained["copies"]:
    listed[ends(copy), "copies"] += round(copy["times"])
    listed[ends(copy), "bytes"] += round(copy["times"]) * copy["bytes"]
for copy in run["copies"]:
    counted[ends(copy), "copies"] += copy["copies"]
    counted[ends(copy), "bytes"] += copy["bytes"]
if listed != counted:
    sys.exit(f"explain lists {dict(listed)}, the run counts {dict(counted)}")
copies = sum(copy["copies"] for copy in run["copies"])
print(copies, "copy" if copies == 1 else "copies")
END
