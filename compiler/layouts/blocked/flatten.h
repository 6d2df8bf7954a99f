// Products of flattened images and constant weights, which can read blocked images: their weights
// are permuted instead.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::layouts {

// Whether `op` flattens an image for such products only, and the image has no padding channels when
// it is blocked.
bool is_flattening(mlir::Operation* op);
// Rewrites the products: `op` flattens `blocked` instead of the image. REQUIRES: is_flattening(op).
void flatten_blocked(mlir::OpBuilder& builder, mlir::Operation* op, mlir::Value blocked);

}  // namespace scopevm::compiler::layouts
