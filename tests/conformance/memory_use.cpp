#include "tests/conformance/memory_use.h"

#include <algorithm>

namespace scopevm::conformance {

std::string wrong_memory_use(const Module& module, const CallStats& stats,
                             const std::map<std::string, int64_t>& dims, bool is_reserved) {
  const auto bound = module.memory_bound(dims, 1);
  for (const ScopeUse& use : stats.memory) {
    const std::string pool = std::string(use.device) + " " + std::string(use.scope);
    const bool is_open =
        !bound.ok() || std::ranges::any_of(bound->lines, [&](const MemoryLine& line) {
          return (line.depends_on_data || line.what == "calls") && line.device == use.device &&
                 line.scope == use.scope;
        });
    if (is_reserved && !is_open && use.allocations > 0)
      return pool + ": " + std::to_string(use.allocations) + " allocations after reserve()";
    if (use.lower_bound_bytes > use.peak_bytes || use.bound_bytes < use.peak_bytes ||
        (!is_open && use.bound_bytes != use.peak_bytes))
      return pool + ": lower bound " + std::to_string(use.lower_bound_bytes) + ", bound " +
             std::to_string(use.bound_bytes) + ", peak " + std::to_string(use.peak_bytes);
  }
  return "";
}

}  // namespace scopevm::conformance
