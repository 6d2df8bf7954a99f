// det: determinants of the matrices in the last two dims.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_det(graph::DetOp op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
