// PoolSpeed: how fast the memory of a pool is. Shared by the compiler's cost model, the module
// format and emulation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace scopevm::format {

// Ranges of the members below, where they are given.
inline constexpr double kLeastBytesPerSecond = 1, kMostBytesPerSecond = 1e18;
inline constexpr double kMostLatencySeconds = 3600;
inline constexpr int64_t kMostBurstBytes = int64_t{1} << 30;

struct PoolSpeed {
  double read_bytes_per_second = 0;   // 0: infinite
  double write_bytes_per_second = 0;  // 0: infinite
  double latency_seconds = 0;         // of a copy
  int64_t burst_bytes = 1;            // a transfer consists of bursts of this size

  double read_seconds(double bytes) const { return seconds(bytes, read_bytes_per_second); }
  double write_seconds(double bytes) const { return seconds(bytes, write_bytes_per_second); }

  // The name of a member that is out of range; null if there is none.
  const char* invalid_member() const {
    // NaN fails all comparisons. Assembly has no -0.
    const auto is_valid = [](double value, double least, double most) {
      return (value == 0 && !std::signbit(value)) || (value >= least && value <= most);
    };
    if (!is_valid(read_bytes_per_second, kLeastBytesPerSecond, kMostBytesPerSecond))
      return "read_bytes_per_second";
    if (!is_valid(write_bytes_per_second, kLeastBytesPerSecond, kMostBytesPerSecond))
      return "write_bytes_per_second";
    if (!is_valid(latency_seconds, std::numeric_limits<double>::min(), kMostLatencySeconds))
      return "latency_seconds";
    return burst_bytes >= 1 && burst_bytes <= kMostBurstBytes ? nullptr : "burst_bytes";
  }

  friend bool operator==(const PoolSpeed&, const PoolSpeed&) = default;

 private:
  double seconds(double bytes, double bytes_per_second) const {
    if (bytes_per_second == 0) return 0;
    const auto burst = static_cast<double>(burst_bytes);
    return std::ceil(bytes / burst) * burst / bytes_per_second;
  }
};

// Time of one copy: both latencies, and the longer one of its read and its write, which overlap.
inline double copy_seconds(const PoolSpeed& from, const PoolSpeed& to, double bytes) {
  return from.latency_seconds + to.latency_seconds +
         std::max(from.read_seconds(bytes), to.write_seconds(bytes));
}

}  // namespace scopevm::format
