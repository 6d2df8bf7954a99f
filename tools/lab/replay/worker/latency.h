// Latencies of operations, as a histogram whose buckets are 1/16 of a power of two wide. A
// percentile is therefore exact to 3 %.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace scopevm::lab {

class LatencyHistogram {
 public:
  void add(uint64_t ticks) {
    ++counts_[bucket(ticks)];
    total_ += ticks;
    ++count_;
  }
  void merge(const LatencyHistogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    count_ += other.count_;
  }
  uint64_t count() const { return count_; }
  uint64_t total_ticks() const { return total_; }
  // The middle of the bucket that contains the given part of the latencies; 0 if there is none.
  double percentile(double part) const {
    const auto rank = static_cast<uint64_t>(part * static_cast<double>(count_));
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (counts_[i] > 0 && seen > rank) return middle(i);
    }
    return 0;
  }

 private:
  static constexpr int kSubBits = 4;  // 16 buckets per power of two
  static constexpr uint64_t kSub = 1 << kSubBits;

  static size_t bucket(uint64_t ticks) {
    if (ticks < kSub) return ticks;
    const int shift = std::bit_width(ticks) - 1 - kSubBits;
    return static_cast<size_t>(shift + 1) * kSub + ((ticks >> shift) - kSub);
  }
  static double middle(size_t bucket) {
    if (bucket < kSub) return static_cast<double>(bucket);
    const int shift = static_cast<int>(bucket / kSub) - 1;
    const uint64_t width = uint64_t{1} << shift;
    return static_cast<double>((kSub + bucket % kSub) << shift) +
           static_cast<double>(width - 1) / 2;
  }

  std::array<uint64_t, 61 * kSub> counts_{};  // up to 2^64 ticks
  uint64_t total_ = 0;
  uint64_t count_ = 0;
};

}  // namespace scopevm::lab
