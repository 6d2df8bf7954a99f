// MemoryCounters: lock-free counters of live bytes, peak bytes and allocations. RecentPeak: the
// maximum of recent values, which determines how much memory allocators cache.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "scopevm/allocator.h"

namespace scopevm::runtime {

class MemoryCounters {
 public:
  // Adds `bytes` to the live bytes, before they are allocated. Returns the new live bytes. Returns
  // no value and adds nothing if they would exceed `limit` (negative: no limit) or 64 bits.
  std::optional<int64_t> reserve(int64_t bytes, int64_t limit) {
    const int64_t most = limit >= 0 ? limit : std::numeric_limits<int64_t>::max();
    int64_t live = live_.load(std::memory_order_relaxed);
    do {
      if (bytes > most - live) return std::nullopt;
    } while (!live_.compare_exchange_weak(live, live + bytes, std::memory_order_relaxed));
    return live + bytes;
  }
  // Counts the allocation of reserved bytes, and raises the peak to `live`, the result of
  // reserve(). After a failed allocation, subtract() reverts reserve() instead.
  void commit(int64_t live) {
    raise_peak(live);
    allocations_.fetch_add(1, std::memory_order_relaxed);
  }
  // Reserves bytes that were allocated elsewhere. Returns false if they would exceed the limit.
  bool hold(int64_t bytes, int64_t limit) {
    const std::optional<int64_t> live = reserve(bytes, limit);
    if (live) raise_peak(*live);
    return live.has_value();
  }
  // Counts an allocation of `bytes`.
  void add(int64_t bytes) { commit(live_.fetch_add(bytes, std::memory_order_relaxed) + bytes); }
  void subtract(int64_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }
  int64_t live() const { return live_.load(std::memory_order_relaxed); }
  AllocatorStats read(int64_t cached_bytes) const {
    return {live(), peak_.load(std::memory_order_relaxed), cached_bytes,
            allocations_.load(std::memory_order_relaxed)};
  }

 private:
  void raise_peak(int64_t live) {
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < live && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
  }

  std::atomic<int64_t> live_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> allocations_{0};
};

// The maximum of the values in the current and the previous window. Not thread-safe.
class RecentPeak {
 public:
  // Adds a value. Returns true at the end of a window: value() can then have decreased.
  bool note(int64_t value) {
    current_ = std::max(current_, value);
    if (++noted_ < kWindow) return false;
    noted_ = 0;
    previous_ = current_;
    current_ = 0;
    return true;
  }
  int64_t value() const { return std::max(previous_, current_); }

 private:
  // The window is long enough that a server with a few alternating request sizes keeps the largest
  // block.
  static constexpr int kWindow = 64;
  int noted_ = 0;
  int64_t current_ = 0;
  int64_t previous_ = 0;
};

}  // namespace scopevm::runtime
