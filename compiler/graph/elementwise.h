// Which ops compute each element of their result from the elements of their operands at the same
// coordinates, after broadcasting.
#pragma once

#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

// True for unary, binary and comparison ops, sv.select and sv.cast.
bool is_elementwise(mlir::Operation* op);

}  // namespace scopevm::compiler::graph
