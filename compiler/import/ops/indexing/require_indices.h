// The check of indices that ONNX requires for ops whose graph ops clamp them.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// Requires every index to be in [-size, size): at compile time if the indices are constants, else
// in each call. If there are several sizes, sizes[i] applies to entry i of the last dim of the
// indices.
void require_indices(Node& n, Value indices, llvm::ArrayRef<DimExpr> sizes);

}  // namespace scopevm::compiler::frontend
