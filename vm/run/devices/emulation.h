// Emulates the memory speed of the module's machine. Computes the minimum time of copies and
// launches from the bandwidth and latency of pools, and waits until that time has passed.
// docs/machine.md describes the model.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "vm/format/schema/module_contents.h"

namespace scopevm::vm {

class Emulation {
 public:
  explicit Emulation(const format::ModuleContents& contents);

  // Time of one copy: format::copy_seconds().
  double copy_seconds(uint32_t from_pool, uint32_t to_pool, int64_t bytes) const;
  // Time of a launch that reads, or else writes, `bytes` bytes of the pool once.
  double access_seconds(uint32_t pool, int64_t bytes, bool is_read) const;
  // The pool of the constant that contains the byte, if any.
  std::optional<uint32_t> pool_of_constant(const std::byte* byte) const;

 private:
  struct ConstantBytes {
    const std::byte* begin;
    const std::byte* end;
    uint32_t pool;
  };
  std::vector<format::PoolSpeed> pools_;
  std::vector<ConstantBytes> constants_;  // sorted by address
};

// Whether any pool of the module specifies a bandwidth or latency.
bool can_be_emulated(const format::ModuleContents& contents);

using WaitEnd = std::chrono::steady_clock::time_point;

// `start` plus `seconds`.
WaitEnd wait_end(WaitEnd start, double seconds);
// Sleeps with sleep_until(), and finally spins, until `end`. Calls may_go_on() first, at least
// every millisecond, and at `deadline`. Returns false as soon as may_go_on() returns false, else
// true at `end`.
bool wait_until(WaitEnd end, WaitEnd deadline, const std::function<bool()>& may_go_on,
                const std::function<void(WaitEnd)>& sleep_until);

}  // namespace scopevm::vm
