// See launcher.h.
#include "tools/ranks/launcher.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace scopevm::tool {

std::string transport_name(const std::string& option) {
  if (!option.empty()) return option == kNoTransport ? "" : option;
  // The variables of Open MPI, and of the launchers of MPICH and Slurm.
  const bool is_launched =
      std::ranges::any_of(std::array{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"},
                          [](const char* name) { return std::getenv(name) != nullptr; });
  return is_launched ? "mpi" : "";
}

}  // namespace scopevm::tool
