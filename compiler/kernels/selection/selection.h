// Selection: ops that order elements, rows or boxes and keep some of them.
//
//   top_k.cpp           top_k
//   sort.cpp            sort_rows, unique_rows
//   suppress_boxes.cpp  suppress_boxes
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_top_k(graph::TopKOp op, LoweringContext& context);
llvm::LogicalResult lower_sort_rows(graph::SortRowsOp op, LoweringContext& context);
llvm::LogicalResult lower_unique_rows(graph::UniqueRowsOp op, LoweringContext& context);
llvm::LogicalResult lower_suppress_boxes(graph::SuppressBoxesOp op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
