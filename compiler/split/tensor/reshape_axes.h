// Which parts of the axes before a reshape are parts of the axes after it.
#pragma once

#include <vector>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::split {

// Axis `from` in `from_segments` equal segments has the same parts as axis `to` in `to_segments`
// equal segments, for any number of parts by which both kinds of segments are divisible. An axis
// that the reshape keeps has the same parts for all numbers.
struct ReshapedAxis {
  int64_t from = 0;
  int64_t from_segments = 1;
  int64_t to = 0;
  int64_t to_segments = 1;
};

// The pairs of static axes of a reshape with this property, for `parts` parts. For instance [n, 96]
// to [n, 3, 4, 8] in 2 parts: axis 1 in three segments and axis 2 in one.
std::vector<ReshapedAxis> reshaped_axes(graph::ReshapeOp reshape, int64_t parts);

}  // namespace scopevm::compiler::split
