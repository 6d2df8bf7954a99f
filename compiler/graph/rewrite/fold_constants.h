// Evaluates graph ops on constants, at compile time.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// The value of an op whose operands are all sv.constant; null when it cannot be folded: an op that
// is not evaluated here, or a result much larger than what it is made of. Elements are computed in
// f64 (floats) or i64 (integers) and rounded to the element type once per op. A reshape shares the
// bytes of its operand.
mlir::ElementsAttr fold_constants(mlir::Operation* op);

}  // namespace scopevm::compiler::graph
