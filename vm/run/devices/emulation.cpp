// Computes the minimum times of copies and launches, and waits; see emulation.h.
#include "vm/run/devices/emulation.h"

#include <algorithm>

namespace scopevm::vm {
namespace {

// A sleep takes up to about 50 us longer than requested: the default timer slack of Linux.
constexpr std::chrono::microseconds kSpin{50};
constexpr std::chrono::milliseconds kLongestSleep{1};
// Longer waits are clamped, so that the end time does not overflow the clock.
constexpr double kLongestWaitSeconds = 1e9;

}  // namespace

bool can_be_emulated(const format::ModuleContents& contents) {
  return std::ranges::any_of(contents.pools, [](const format::PoolDecl& pool) {
    return pool.speed != format::PoolSpeed{.burst_bytes = pool.speed.burst_bytes};
  });
}

Emulation::Emulation(const format::ModuleContents& contents) {
  for (const format::PoolDecl& pool : contents.pools) pools_.push_back(pool.speed);
  for (const format::ConstantDecl& constant : contents.constants) {
    const auto* begin = reinterpret_cast<const std::byte*>(constant.bytes.data);
    if (constant.bytes.size > 0 && begin != nullptr)
      constants_.push_back({begin, begin + constant.bytes.size, constant.pool});
  }
  std::ranges::sort(constants_, {}, &ConstantBytes::begin);
}

double Emulation::copy_seconds(uint32_t from_pool, uint32_t to_pool, int64_t bytes) const {
  return format::copy_seconds(pools_[from_pool], pools_[to_pool], static_cast<double>(bytes));
}

double Emulation::access_seconds(uint32_t pool, int64_t bytes, bool is_read) const {
  const auto transferred = static_cast<double>(bytes);
  return is_read ? pools_[pool].read_seconds(transferred) : pools_[pool].write_seconds(transferred);
}

std::optional<uint32_t> Emulation::pool_of_constant(const std::byte* byte) const {
  const auto next = std::ranges::upper_bound(constants_, byte, {}, &ConstantBytes::begin);
  if (next == constants_.begin() || byte >= std::prev(next)->end) return std::nullopt;
  return std::prev(next)->pool;
}

WaitEnd wait_end(WaitEnd start, double seconds) {
  return start + std::chrono::duration_cast<WaitEnd::duration>(
                     std::chrono::duration<double>(std::min(seconds, kLongestWaitSeconds)));
}

bool wait_until(WaitEnd end, WaitEnd deadline, const std::function<bool()>& may_go_on,
                const std::function<void(WaitEnd)>& sleep_until) {
  for (;;) {
    if (!may_go_on()) return false;
    const WaitEnd now = std::chrono::steady_clock::now();
    if (now >= end) return true;
    const auto left = std::min(end, std::max(deadline, now)) - now;
    // The last part of the wait spins, because a sleep would end too late.
    if (left > 2 * kSpin)
      sleep_until(now + std::min<WaitEnd::duration>(left - kSpin, kLongestSleep));
  }
}

}  // namespace scopevm::vm
