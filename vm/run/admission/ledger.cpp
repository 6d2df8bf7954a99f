// The arithmetic of reservations; see ledger.h.
#include "vm/run/admission/ledger.h"

#include <algorithm>
#include <string_view>

#include "runtime/count_text.h"

namespace scopevm::vm {

using runtime::count_text;

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

Status Ledger::check_capacity(std::span<const Need> needs) const {
  for (const Need& need : needs) {
    const Pool& pool = pools_[need.pool];
    const int64_t room = pool.capacity - need.own;
    if (need.bytes <= room) continue;
    return {
        StatusCode::kResourceLimit,
        pool.name + ": the call needs " + count_text(need.bytes, "byte") +
            (need.own > 0 ? " in addition to the " + count_text(need.own, "byte") + " of its state"
                          : "") +
            ", " + count_text(need.bytes - room, "byte") + " more than the capacity of " +
            count_text(pool.capacity, "byte"),
        {pool.name, -1, "at most " + count_text(room, "byte"), count_text(need.bytes, "byte")}};
  }
  return {};
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
