// Iteration spaces: the dims that a kernel loops over, and how each operand moves along them.
#pragma once

#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler::kernels {

// How an operand moves along one dim of the space.
enum class Motion : uint8_t {
  kFull,       // has the dim
  kBroadcast,  // stays
  kUnknown,    // one of the two, decided by the request: the stride is 0 or not
};

struct AxisAccess {
  Motion motion = Motion::kFull;
  DimExpr stride;  // in elements; 0 when the operand stays
};

// Row-major dims with adjacent ones joined where every operand allows; dims of size 1 are left out.
// There is at least one dim.
struct Space {
  std::vector<DimExpr> dims;
  std::vector<int> tags;  // one per dim; dims of different tags are never joined
  std::vector<std::vector<AxisAccess>> operands;  // [operand][dim]

  // The operand's elements are the space's, in order.
  bool is_linear(size_t operand) const;
  // Appends a dim of size 1 unless the last dim has this tag.
  void require_inner(int tag);
};

// `shapes` broadcast to `dims`, aligned at the last. `tags` has one entry per dim.
Space make_space(llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<int> tags,
                 llvm::ArrayRef<llvm::ArrayRef<DimExpr>> shapes);

// Fewest items worth a task of their own, when an item is `elements` long and costs `cost` simple
// operations an element.
DimExpr grain_of_operations(DimExpr elements, int64_t cost);

}  // namespace scopevm::compiler::kernels
