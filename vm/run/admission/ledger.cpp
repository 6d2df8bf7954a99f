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

uint32_t Ledger::add_user(uint32_t pool) {
  pools_[pool].users.emplace_back();
  return static_cast<uint32_t>(pools_[pool].users.size() - 1);
}

void Ledger::add(const Need& need, int64_t bytes) {
  Pool& pool = pools_[need.pool];
  User& user = pool.users[need.user];
  user.used += bytes;
  if (user.used <= user.peak) return;
  pool.occupied += user.used - user.peak;
  user.peak = user.used;
}

void Ledger::trimmed(uint32_t pool) {
  pools_[pool].occupied = 0;
  for (User& user : pools_[pool].users) pools_[pool].occupied += user.peak = user.used;
}

bool Ledger::can_fit(std::span<const Need> needs) const {
  return std::ranges::all_of(
      needs, [&](const Need& need) { return need.bytes <= pools_[need.pool].capacity; });
}

bool Ledger::reserve(std::span<const Need> needs) {
  if (!std::ranges::all_of(
          needs, [&](const Need& need) { return need.bytes <= pools_[need.pool].free(); }))
    return false;
  for (const Need& need : needs) {
    pools_[need.pool].reserved += need.bytes;
    add(need, need.bytes);
  }
  return true;
}

void Ledger::end(std::span<const Need> needs) {
  for (const Need& need : needs) {
    pools_[need.pool].reserved -= need.bytes;
    pools_[need.pool].held += need.held;
    add(need, need.held - need.bytes);
  }
}

}  // namespace scopevm::vm
