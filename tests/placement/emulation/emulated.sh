#!/usr/bin/env bash
# Prints the seconds of the copies that `scopevm explain --copies` lists, and the emulated seconds
# of a run. Fails if the run was faster than its emulated seconds.
#
#   tests/placement/emulation/emulated.sh GRAPH MACHINE DIMS INPUTS
#
# DIMS are options of `scopevm compile` and `scopevm explain`, INPUTS are options of `scopevm run`.
set -euo pipefail
graph=$1 machine=$2 dims=$3 inputs=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck disable=SC2086 # options, several words each
{
  scopevm compile "$graph" --machine "$machine" $dims -o "$scratch/model.bc"
  scopevm explain "$graph" --machine "$machine" $dims --copies --json >"$scratch/explained.json"
  scopevm run "$scratch/model.bc" --emulate --threads 2 --json $inputs >"$scratch/run.json"
}
python3 - "$scratch/explained.json" "$scratch/run.json" <<'END'
import json, sys
explained, run = (json.load(open(path)) for path in sys.argv[1:])
copies = sum(copy["seconds"] * copy["times"] for copy in explained["copies"])
if run["latency_us"]["min"] < 1e6 * run["emulated_seconds"]:
    sys.exit("a run was faster than its emulated time")
print("copies:", copies, "run:", run["emulated_seconds"])
END
