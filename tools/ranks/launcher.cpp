// See launcher.h.
#include "tools/ranks/launcher.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace scopevm::tool {
namespace {

// Variables of Open MPI, and of the launchers of MPICH and Slurm.
constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

}  // namespace

std::string transport_name(const std::string& option) {
  if (!option.empty()) return option == kNoTransport ? "" : option;
  const bool is_launched = std::ranges::any_of(
      kRankVariables, [](const char* name) { return std::getenv(name) != nullptr; });
  return is_launched ? kMpi : "";
}

std::optional<int> launched_rank() {
  for (const char* name : kRankVariables) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    const std::string_view digits(text);
    int rank = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), rank);
    if (error == std::errc() && end == digits.end() && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace scopevm::tool
