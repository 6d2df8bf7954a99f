#!/bin/bash
# Runs a job of two Python processes under mpirun, and compares with one process.
#   tests/python/ranks.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/../.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_plm_rsh_agent=true OMPI_MCA_mpi_yield_when_idle=1
timeout 100 mpirun -n 2 "$1" tests/python/ranks.py
