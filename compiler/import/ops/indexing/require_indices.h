// The check of indices that ONNX requires for ops whose graph ops clamp them.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// The least valid index into an axis: its negated size, as negative indices count from the end, or
// 0.
enum class LeastIndex : uint8_t { kNegatedSize, kZero };

// Requires every index to be less than the size, and at least the least one: at compile time if the
// indices are constants, else in each call. If there are several sizes, sizes[i] applies to entry i
// of the last dim of the indices.
void require_indices(Node& n, Value indices, llvm::ArrayRef<DimExpr> sizes,
                     LeastIndex least = LeastIndex::kNegatedSize);

}  // namespace scopevm::compiler::frontend
