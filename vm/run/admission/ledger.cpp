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

void Ledger::cancel(std::span<const Need> needs) {
  for (const Need& need : needs) pools_[need.pool].reserved -= need.bytes;
}

void Ledger::end(std::span<const Need> needs, std::span<const int64_t> held) {
  for (size_t i = 0; i < needs.size(); ++i) {
    Pool& pool = pools_[needs[i].pool];
    pool.reserved -= needs[i].bytes;
    pool.held += held[i];
  }
}

}  // namespace scopevm::vm
