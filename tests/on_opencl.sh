#!/usr/bin/env bash
# on_opencl.sh BIN_FOLDER COMMAND...: runs the command if this machine has an OpenCL device.
# Otherwise exits with 77, which ctest reports as skipped.
set -euo pipefail
bin=$1
shift
if "$bin/scopevm" machine 2>&1 >/dev/null | grep -q 'no OpenCL'; then
  echo "skipped: no OpenCL device"
  exit 77
fi
exec "$@"
