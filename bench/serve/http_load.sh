#!/usr/bin/env bash
# How many requests does `scopevm serve` answer over HTTP, and how long does one take?
#   bench/serve/http_load.sh BUILD_FOLDER [SECONDS]
# Loads a server with wrk (Debian's package): requests of a model of two operations with inputs of 16
# bytes, and for comparison, a path that runs no model. Prints the rate, the median latency and that
# of 99 %, for 1 and 32 connections. The client takes a part of the same CPUs.
set -euo pipefail
build=$(readlink -f "$1")
seconds=${2-5}
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT

mkdir -p "$folder/models/sum/1"
"$build/bin/scopevm" compile "$source/tests/tools/run_state.test.mlir" \
  -o "$folder/models/sum/1/module.bc"
cat >"$folder/request.lua" <<'END_OF_SCRIPT'
local function input(name)
  return '{"name":"' .. name .. '","datatype":"FP32","shape":[1,2],"data":[1,2]}'
end
wrk.method = "POST"
wrk.body = '{"inputs":[' .. input("x") .. "," .. input("h") .. "]}"
END_OF_SCRIPT

"$build/bin/scopevm" serve "$folder/models" --http 127.0.0.1:0 --grpc none --metrics none \
  >"$folder/output" 2>/dev/null &
server=$!
until grep -q '^ready' "$folder/output"; do sleep 0.1; done
address=$(sed -n 's/^http //p' "$folder/output")

# measure NAME PATH CONNECTIONS [OPTIONS]
measure() {
  local name=$1 path=$2 connections=$3
  shift 3
  wrk -t1 -c"$connections" -d"$seconds" --latency "$@" "http://$address$path" |
    awk -v name="$name" -v connections="$connections" '
      $1 == "50%" { median = $2 } $1 == "99%" { slow = $2 } /^Requests\/sec/ { rate = $2 }
      /Non-2xx/ { bad = $NF }
      END { printf "| %s | %d | %.0f | %s | %s |\n", name, connections, rate, median, slow
            if (bad) exit 1 }'
}
echo "| request | connections | requests/s | median | 99 % |"
echo "| --- | ---: | ---: | ---: | ---: |"
for connections in 1 32; do
  measure "path without a model" /v2/health/live "$connections"
  measure "model, JSON" /v2/models/sum/infer "$connections" -s "$folder/request.lua"
done
