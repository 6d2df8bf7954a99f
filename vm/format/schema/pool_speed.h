// PoolSpeed: how fast the memory of a pool is. Shared by the compiler's cost model, the module
// format and emulation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "vm/format/schema/visitor.h"

namespace scopevm::format {

inline constexpr Range<double> kBytesPerSecond = {1, 1e18};  // of a bandwidth that is given

struct PoolSpeed {
  double read_bytes_per_second = 0;   // 0: infinite
  double write_bytes_per_second = 0;  // 0: infinite
  double latency_seconds = 0;         // of a copy
  int64_t burst_bytes = 1;            // a transfer consists of bursts of this size
  double write_latency_seconds = 0;   // of a copy to the pool; 0: latency_seconds

  double read_seconds(double bytes) const { return seconds(bytes, read_bytes_per_second); }
  double write_seconds(double bytes) const { return seconds(bytes, write_bytes_per_second); }

  double write_latency() const {
    return write_latency_seconds > 0 ? write_latency_seconds : latency_seconds;
  }

  // The name of a member that is out of range; null if there is none.
  const char* invalid_member() const;

  friend bool operator==(const PoolSpeed&, const PoolSpeed&) = default;

 private:
  double seconds(double bytes, double bytes_per_second) const {
    if (bytes_per_second == 0) return 0;
    const auto burst = static_cast<double>(burst_bytes);
    return std::ceil(bytes / burst) * burst / bytes_per_second;
  }
};

// The members have these names in machine descriptions, too.
void visit(auto& v, Is<PoolSpeed> auto& speed) {
  v.limited("read_bytes_per_second", speed.read_bytes_per_second, kBytesPerSecond);
  v.limited("write_bytes_per_second", speed.write_bytes_per_second, kBytesPerSecond);
  v.limited("latency_seconds", speed.latency_seconds, Range<double>{0, 3600});
  v.limited("write_latency_seconds", speed.write_latency_seconds, Range<double>{1e-12, 3600});
  v.limited("burst_bytes", speed.burst_bytes, Range<int64_t>{1, int64_t{1} << 30}, 1);
}

inline const char* PoolSpeed::invalid_member() const {
  struct {
    const char* found = nullptr;

    // NaN fails all comparisons. Assembly has no -0, and machine descriptions no subnormal numbers.
    void limited(const char* name, double x, Range<double> range) {
      const bool is_zero = x == 0 && !std::signbit(x);
      if (!is_zero && !(std::isnormal(x) && x >= range.least && x <= range.most)) fail(name);
    }
    void limited(const char* name, int64_t x, Range<int64_t> range, int64_t) {
      if (x < range.least || x > range.most) fail(name);
    }
    void fail(const char* name) {
      if (found == nullptr) found = name;
    }
  } visitor;
  visit(visitor, *this);
  return visitor.found;
}

// Time of one copy: the latencies of both pools, and the longer one of its read and its write,
// which overlap.
inline double copy_seconds(const PoolSpeed& from, const PoolSpeed& to, double bytes) {
  return from.latency_seconds + to.write_latency() +
         std::max(from.read_seconds(bytes), to.write_seconds(bytes));
}

}  // namespace scopevm::format
