// Pooling: ops that reduce windows of an image to single elements.
//
//   pool.cpp          max_pool, average_pool
//   pool_indices.cpp  max_pool_indices
//   roi_align.cpp     roi_align
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_max_pool(graph::MaxPoolOp op, LoweringContext& context);
llvm::LogicalResult lower_average_pool(graph::AveragePoolOp op, LoweringContext& context);
llvm::LogicalResult lower_max_pool_indices(graph::MaxPoolIndicesOp op, LoweringContext& context);
llvm::LogicalResult lower_roi_align(graph::RoiAlignOp op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
