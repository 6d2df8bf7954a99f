// Signal: ops that resample. resize.cpp has resize.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_resize(graph::ResizeOp op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
