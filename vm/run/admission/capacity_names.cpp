// Misspelt names of capacities; see capacity_names.h.
#include "vm/run/admission/capacity_names.h"

#include <algorithm>
#include <string_view>

#include "runtime/nearest_name.h"

namespace scopevm::vm {
namespace {

// Whether the names differ in one part only, and the parts are similar. A name that differs in the
// device can be that of another module's pool.
bool is_misspelling(std::string_view given, std::string_view known) {
  const auto differs = std::ranges::mismatch(given, known).in1;
  const size_t part = given.substr(0, differs - given.begin()).rfind('.') + 1;
  if (part == 0) return false;
  given.remove_prefix(part);
  known.remove_prefix(part);
  const size_t end = std::min(given.find('.'), given.size());
  const size_t known_end = std::min(known.find('.'), known.size());
  return given.substr(end) == known.substr(known_end) &&
         runtime::are_similar(given.substr(0, end), known.substr(0, known_end));
}

}  // namespace

Status check_capacity_names(const std::vector<PoolUse>& capacities,
                            const std::vector<std::string>& pools) {
  const auto is_pool = [&](const PoolUse& capacity) {
    return std::ranges::find(pools, capacity.pool) != pools.end();
  };
  if (capacities.empty()) return {};
  if (std::ranges::none_of(capacities, is_pool))
    return {StatusCode::kInvalidArgument,
            "no capacity of the scheduler is for a memory scope of the module; it has no \"" +
                capacities.front().pool + "\"" +
                runtime::name_suggestion(capacities.front().pool, pools)};
  for (const PoolUse& capacity : capacities) {
    if (is_pool(capacity)) continue;
    for (const std::string& pool : pools)
      if (is_misspelling(capacity.pool, pool) &&
          std::ranges::find(capacities, pool, &PoolUse::pool) == capacities.end())
        return {StatusCode::kInvalidArgument,
                "the scheduler has a capacity for \"" + capacity.pool +
                    "\", which is no memory scope of the module; did you mean \"" + pool + "\"?"};
  }
  return {};
}

}  // namespace scopevm::vm
