// The launcher of the processes of a job.
#pragma once

#include <string>

namespace scopevm::tool {

// The value of an option for which no transport is used, also in a job.
inline constexpr char kNoTransport[] = "none";

// The name of the transport that option `--transport` denotes; empty: none. Without the option, it
// is that of MPI if Open MPI, MPICH or Slurm has started this process.
std::string transport_name(const std::string& option);

}  // namespace scopevm::tool
