#!/usr/bin/env bash
# Runs three replicas and haproxy until it is interrupted:
#   replicas.sh MODELS [OPTIONS OF scopevm serve]
# Needs haproxy. SCOPEVM_ADDRESS is the address for clients (127.0.0.1:8080).
set -euo pipefail
models=$1
shift
export SCOPEVM_ADDRESS=${SCOPEVM_ADDRESS-127.0.0.1:8080}
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
for i in 1 2 3; do
  declare -x "SCOPEVM_PORT$i=810$i" "SCOPEVM_AGENT$i=820$i"
  # A replica that ends with an error is started again.
  until scopevm serve "$models" --http "127.0.0.1:810$i" --agent "127.0.0.1:820$i" --grpc none \
    --metrics none "$@"; do sleep 0.1; done &
done
haproxy -f "$(dirname "$0")/haproxy.cfg"
