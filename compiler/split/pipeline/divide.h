// The division of a sequence of work into consecutive stages; independent of MLIR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scopevm::compiler::split {

// One op.
struct Work {
  double seconds = 0;
  std::vector<size_t> weights;  // that it reads: indices into the sizes
  // The bytes of the values that are made before the op and used by it or by later ones, and the
  // time in which a stage that starts with it receives them.
  double bytes_before = 0;
  double seconds_before = 0;
};

// The index of the first op of each stage. Stages are not empty. The largest weights of a stage are
// at most 5 % above the mean, or else the least possible. Among these divisions, the slowest stage
// takes the least time, with that of its messages, within 5 %, and among those the least bytes
// cross the borders. A weight counts once in each stage that reads it. O(n^2) in the number of ops.
// REQUIRES: 1 <= stages <= ops.size().
std::vector<size_t> divide(const std::vector<Work>& ops, const std::vector<double>& weight_bytes,
                           size_t stages);

}  // namespace scopevm::compiler::split
