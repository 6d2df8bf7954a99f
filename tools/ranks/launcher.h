// The launcher of the processes of a job.
#pragma once

#include <optional>
#include <string>

namespace scopevm::tool {

// The value of an option for which no transport is used, also in a job.
inline constexpr char kNoTransport[] = "none";

// The plug-in for processes that Open MPI, MPICH or Slurm start.
inline constexpr char kMpi[] = "mpi";

// The name of the transport that option `--transport` denotes; empty: none. Without the option, it
// is that of MPI if Open MPI, MPICH or Slurm has started this process.
std::string transport_name(const std::string& option);

// The rank of this process, if Open MPI, MPICH or Slurm has started it. It is known before the
// process has connected to the others.
std::optional<int> launched_rank();

}  // namespace scopevm::tool
