#!/usr/bin/env bash
# Runs three replicas and haproxy until it is interrupted:
#   replicas.sh MODELS [OPTIONS OF scopevm serve]
# Needs haproxy. SCOPEVM_ADDRESS is the address for clients (127.0.0.1:8080).
set -euo pipefail
models=$1
shift
export SCOPEVM_ADDRESS=${SCOPEVM_ADDRESS-127.0.0.1:8080}

# Runs replica $1. If it ends with an error, it is started again.
replica() {
  local number=$1 server
  shift
  trap 'kill "$server"; wait "$server"; exit' TERM
  while true; do
    scopevm serve "$models" --http "127.0.0.1:810$number" --agent "127.0.0.1:820$number" \
      --grpc none --metrics none "$@" &
    server=$!
    if wait "$server"; then return; fi
    sleep 0.1
  done
}

trap exit INT TERM
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
for i in 1 2 3; do
  declare -x "SCOPEVM_PORT$i=810$i" "SCOPEVM_AGENT$i=820$i"
  replica "$i" "$@" &
done
haproxy -f "$(dirname "$0")/haproxy.cfg" &
wait $!
