// The counters of a loaded model. Times are sums in nanoseconds.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace scopevm::serve {

// Thread-safe.
struct ModelStatistics {
  std::atomic<int64_t> in_flight{0};  // requests that wait or run
  std::atomic<int64_t> successes{0};
  std::atomic<int64_t> failures{0};
  std::atomic<int64_t> success_ns{0};  // from the start of a request to its end
  std::atomic<int64_t> failure_ns{0};
  std::atomic<int64_t> queue_ns{0};    // the part of success_ns before and after the run
  std::atomic<int64_t> compute_ns{0};  // the part of success_ns in the run
  std::atomic<int64_t> last_ms{0};     // the end of the last request, since the Unix epoch
  // Successes by latency: latency[i] is for less than 2^i us, and the last one for all others.
  std::array<std::atomic<int64_t>, 32> latency{};

  // Whether calls take less time than a worker may take to wake, so that the thread that reads
  // requests can run them.
  bool is_short() const {
    constexpr int64_t kEnough = 8, kShortNs = 100'000;
    const int64_t count = successes;
    return count >= kEnough && compute_ns < count * kShortNs;
  }

  void add_latency(int64_t ns) {
    const auto us = static_cast<uint64_t>(ns / 1000);
    ++latency[std::min<size_t>(static_cast<size_t>(std::bit_width(us)), latency.size() - 1)];
  }
};

}  // namespace scopevm::serve
