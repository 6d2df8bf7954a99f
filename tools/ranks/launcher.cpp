// See launcher.h.
#include "tools/ranks/launcher.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace scopevm::tool {
namespace {

constexpr std::string_view kMpi = "mpi";

// Variables of Open MPI, and of the launchers of MPICH and Slurm.
constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

}  // namespace

std::string transport_name(const std::string& option) {
  if (!option.empty()) return option == kNoTransport ? "" : option;
  const bool is_launched = std::ranges::any_of(
      kRankVariables, [](const char* name) { return std::getenv(name) != nullptr; });
  return is_launched ? std::string(kMpi) : "";
}

std::optional<int> launched_rank(const std::string& option) {
  if (transport_name(option) != kMpi) return std::nullopt;
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
