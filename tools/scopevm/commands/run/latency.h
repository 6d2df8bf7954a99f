// The distribution of the latencies of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scopevm::tool {

class Latency {
 public:
  // REQUIRES: not empty. In nanoseconds.
  explicit Latency(std::vector<int64_t> latencies);

  double min_us() const { return at(0); }
  double max_us() const { return at(sorted_.size() - 1); }
  double median_us() const;
  double mean_us() const;
  // The smallest value that at least this part of the values do not exceed (nearest rank).
  double quantile_us(double part) const;

  struct Bin {
    double begin_us;  // included
    double end_us;    // excluded; infinite for the last bin
    size_t count;
  };
  // Equal bins whose bounds are round numbers, and one for larger values. They begin at the minimum
  // and end at the 99th percentile, or earlier if it is far from the 90th.
  std::vector<Bin> histogram() const;

 private:
  double at(size_t index) const { return static_cast<double>(sorted_[index]) / 1e3; }

  std::vector<int64_t> sorted_;
};

}  // namespace scopevm::tool
