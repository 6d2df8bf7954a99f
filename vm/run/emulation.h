// An emulated machine: what the module's pools say of their speed, as seconds that copies and
// launches are to take at least, and the wait for what is left of them. docs/machine.md has the
// model.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "vm/format/module_contents.h"

namespace scopevm::vm {

class Emulation {
 public:
  explicit Emulation(const format::ModuleContents& contents);

  // Of one copy: both latencies, and the bytes over the lesser bandwidth.
  double copy_seconds(uint32_t from_pool, uint32_t to_pool, int64_t bytes) const;
  // Of a launch that reads or writes so many bytes of the pool once.
  double access_seconds(uint32_t pool, int64_t bytes) const;
  // The pool of the constant that has the byte.
  std::optional<uint32_t> pool_of_constant(const std::byte* byte) const;

 private:
  // Where nothing is said, nothing takes time.
  struct Speed {
    double bytes_per_second;
    double latency_seconds;
  };
  struct ConstantBytes {
    const std::byte* begin;
    const std::byte* end;
    uint32_t pool;
  };
  std::vector<Speed> pools_;
  std::vector<ConstantBytes> constants_;  // by address
};

// True when a pool of the module says anything.
bool can_be_emulated(const format::ModuleContents& contents);

using WaitEnd = std::chrono::steady_clock::time_point;

// The time that is `seconds` behind `start`.
WaitEnd wait_end(WaitEnd start, double seconds);
// Sleeps, and spins at last, until `end`. Asks may_go_on() first and every millisecond, and at
// `deadline`; false ends the wait at once, and is what it returns.
bool wait_until(WaitEnd end, WaitEnd deadline, const std::function<bool()>& may_go_on);

}  // namespace scopevm::vm
