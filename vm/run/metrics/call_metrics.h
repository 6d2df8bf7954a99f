// CallMetrics: counters of a session's calls. Calls update them with relaxed atomics only.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "scopevm/status.h"

namespace scopevm::vm {

// A histogram of durations in the form of Prometheus. Thread-safe.
class DurationHistogram {
 public:
  // The largest durations of the buckets except the last one, in nanoseconds.
  static constexpr std::array<int64_t, 16> kBounds = {
      10'000,      25'000,        100'000,       250'000,       500'000,    1'000'000,
      2'500'000,   5'000'000,     10'000'000,    25'000'000,    50'000'000, 100'000'000,
      250'000'000, 1'000'000'000, 2'500'000'000, 10'000'000'000};

  void add(std::chrono::nanoseconds duration) {
    const int64_t ns = duration.count();
    size_t bucket = 0;
    while (bucket < kBounds.size() && ns > kBounds[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(ns, std::memory_order_relaxed);
  }
  uint64_t count(size_t bucket) const { return counts_[bucket].load(std::memory_order_relaxed); }
  int64_t sum_ns() const { return sum_ns_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<int64_t> sum_ns_{0};
};

// How a call ended, for its counter.
enum class CallOutcome : uint8_t { kSuccess, kDeadline, kCancelled, kMemory, kInvalid, kOther };
inline constexpr size_t kCallOutcomes = 6;

inline CallOutcome outcome_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return CallOutcome::kSuccess;
    case StatusCode::kDeadlineExceeded:
      return CallOutcome::kDeadline;
    case StatusCode::kCancelled:
      return CallOutcome::kCancelled;
    case StatusCode::kOutOfMemory:
    case StatusCode::kResourceLimit:
      return CallOutcome::kMemory;
    case StatusCode::kInvalidArgument:
      return CallOutcome::kInvalid;
    default:
      return CallOutcome::kOther;
  }
}

// On a cache line of its own, because all calls of a session write it.
struct alignas(64) CallMetrics {
  std::atomic<uint64_t> started{0};  // calls of run() and submit()
  std::array<std::atomic<uint64_t>, kCallOutcomes> ended{};
  DurationHistogram waited_for_memory;  // of submitted calls
  DurationHistogram waited_for_worker;  // of submitted calls that were admitted
  DurationHistogram ran;                // of calls that ran, successful or not

  void start() { started.fetch_add(1, std::memory_order_relaxed); }
  void end(StatusCode code) {
    ended[static_cast<size_t>(outcome_of(code))].fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace scopevm::vm
