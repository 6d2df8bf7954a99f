// Searches that find nothing.
#include "runtime/plan/instance.h"
#include "runtime/plan/steps.h"

namespace scopevm::plan {

SearchOutcome search_exact(const Instance& /*instance*/, int64_t /*capacity*/,
                           double /*time_limit_s*/, std::vector<int64_t>& /*offsets*/) {
  return SearchOutcome::kTimeout;
}

int64_t improve(const Instance& instance, int64_t /*target*/, double /*time_limit_s*/,
                uint64_t /*seed*/, std::vector<int64_t>& offsets) {
  return height_of(instance, offsets);
}

}  // namespace scopevm::plan
