// The arithmetic of reservations; see ledger.h.
#include "vm/run/admission/ledger.h"

#include <algorithm>
#include <string_view>

namespace scopevm::vm {

std::optional<uint32_t> Ledger::find(std::string_view name) const {
  const auto found = std::ranges::find(pools_, name, &Pool::name);
  if (found == pools_.end()) return std::nullopt;
  return static_cast<uint32_t>(found - pools_.begin());
}

bool Ledger::can_fit(std::span<const Need> needs) const {
  return std::ranges::all_of(
      needs, [&](const Need& need) { return need.bytes <= pools_[need.pool].capacity; });
}

bool Ledger::reserve(std::span<const Need> needs) {
  if (!std::ranges::all_of(
          needs, [&](const Need& need) { return need.bytes <= pools_[need.pool].free(); }))
    return false;
  for (const Need& need : needs) pools_[need.pool].reserved += need.bytes;
  return true;
}

void Ledger::end(std::span<const Need> needs) {
  for (const Need& need : needs) {
    pools_[need.pool].reserved -= need.bytes;
    pools_[need.pool].held += need.held;
  }
}

}  // namespace scopevm::vm
