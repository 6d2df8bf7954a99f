// Random choices that depend only on a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace scopevm::ranks {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // A number in [0, count). REQUIRES: count > 0.
  int64_t below(int64_t count) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(count));
  }
  // A number in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  // True with a probability of `percent` / 100.
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace scopevm::ranks
