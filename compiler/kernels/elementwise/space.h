// Iteration spaces: the dims that a kernel loops over, and the stride of each operand along them.
#pragma once

#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler::kernels {

// The motion of an operand along one dim of the space.
enum class Motion : uint8_t {
  kFull,       // has the dim
  kBroadcast,  // stride 0
  kUnknown,    // one of the two, decided by the request: the stride is a param of the launch
};

struct AxisAccess {
  Motion motion = Motion::kFull;
  DimExpr stride;  // in elements; 0 for a broadcast operand
};

// Row-major dims, without dims of size 1. Adjacent dims are merged if the strides of every operand
// allow it. There is at least one dim.
struct Space {
  std::vector<DimExpr> dims;
  std::vector<int> tags;  // one per dim; dims of different tags are never merged
  std::vector<std::vector<AxisAccess>> operands;  // [operand][dim]

  // True if the operand has every element of the space, in order.
  bool is_linear(size_t operand) const;
  // Appends a dim of size 1 unless the last dim has this tag.
  void require_inner(int tag);
};

// Builds the space of `shapes` broadcast to `dims`, aligned at the last dim. `tags` has one entry
// per dim.
Space make_space(llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<int> tags,
                 llvm::ArrayRef<llvm::ArrayRef<DimExpr>> shapes);

// The smallest number of items per task, if an item has `elements` elements at a cost of `cost`
// simple operations each.
DimExpr grain_of_operations(DimExpr elements, int64_t cost);

}  // namespace scopevm::compiler::kernels
