// Iteration spaces: the dims that a kernel loops over, and the strides of each operand along them.
#pragma once

#include <vector>

#include "compiler/dims/dim_expr.h"
#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::kernels {

// The relation of an operand's dim to a dim of the space.
enum class Motion : uint8_t {
  kFull,       // equal
  kBroadcast,  // 1 or missing: the operand is broadcast along the dim
  kUnknown,    // full or broadcast, depending on the request: the stride is a param of the launch
};

struct AxisAccess {
  Motion motion = Motion::kFull;
  DimExpr stride;  // in elements; 0 for a broadcast operand
};

// Row-major dims. Dims of the constant size 1 are removed, except one that require_inner() appends.
// Adjacent dims with the same tag are merged if every operand is full along both or broadcast along
// both. There is at least one dim.
struct Space {
  std::vector<DimExpr> dims;
  std::vector<int> tags;  // one per dim; dims of different tags are never merged
  std::vector<std::vector<AxisAccess>> operands;  // [operand][dim]

  // True if the operand is full along every dim: its elements have the order of the space.
  bool is_linear(size_t operand) const;
  // Appends a dim of size 1 unless the last dim has this tag.
  void require_inner(int tag);
};

// Builds the space with these dims for operands of these shapes, which are broadcast as in NumPy.
// `tags` has one entry per dim.
Space make_space(llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<int> tags,
                 llvm::ArrayRef<llvm::ArrayRef<DimExpr>> shapes);

// The grain of a launch whose items have `elements` elements, each with `cost` simple operations.
DimExpr grain_of_operations(DimExpr elements, int64_t cost);

}  // namespace scopevm::compiler::kernels
