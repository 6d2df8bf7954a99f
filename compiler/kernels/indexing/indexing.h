// Indexing: ops that read or write at indices that are data, or compute such indices.
//
//   gather.cpp   gather, gather_elements, gather_nd
//   scatter.cpp  scatter_elements, scatter_nd
//   one_hot.cpp  one_hot
//   nonzero.cpp  count_nonzero, nonzero
//
// A kernel cannot fail: reads clamp an index that is out of range to the nearest valid one, and
// give 0 where there is none; writes drop it.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_gather(graph::GatherOp op, LoweringContext& context);
llvm::LogicalResult lower_gather_elements(graph::GatherElementsOp op, LoweringContext& context);
llvm::LogicalResult lower_gather_nd(graph::GatherNdOp op, LoweringContext& context);
llvm::LogicalResult lower_scatter_elements(graph::ScatterElementsOp op, LoweringContext& context);
llvm::LogicalResult lower_scatter_nd(graph::ScatterNdOp op, LoweringContext& context);
llvm::LogicalResult lower_one_hot(graph::OneHotOp op, LoweringContext& context);
llvm::LogicalResult lower_count_nonzero(graph::CountNonzeroOp op, LoweringContext& context);
llvm::LogicalResult lower_nonzero(graph::NonzeroOp op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
