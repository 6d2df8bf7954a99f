// How pooling is computed, as values.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/target.h"

namespace scopevm::compiler::schedule {

// One spatial axis of windows.
struct PoolAxis {
  int64_t kernel = 1, stride = 1, dilation = 1;

  bool operator==(const PoolAxis&) const = default;
};

struct PoolProblem {
  std::vector<PoolAxis> axes;  // at least 1
  bool is_blocked = false;     // the last axis is the channels of a block
  int element_bytes = 4;
  bool is_converted = false;  // each element is converted before it is used

  bool operator==(const PoolProblem&) const = default;
};

// It depends on the target of an image.
struct PoolSchedule {
  int64_t lanes = 1;  // adjacent results that are computed as a vector
  // In blocked images: the columns of pixels that the windows of adjacent results have in common.
  // Each of these columns is reduced once.
  int64_t shared_columns = 0;

  // "16 lanes, 2 shared columns": stable.
  std::string text() const;
  bool operator==(const PoolSchedule&) const = default;
};

PoolSchedule choose_pool(const PoolProblem& problem, const Target& target);

// Whether a window with this number of elements has no loops: they would take longer than few
// elements.
inline bool unrolls_window(int64_t elements) {
  constexpr int64_t kMost = 9;
  return elements <= kMost;
}

}  // namespace scopevm::compiler::schedule
