// The generators of reductions and of ops that normalise along dims. Each takes one op or group and
// appends its launch.
#pragma once

#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/elementwise/fused_body.h"

namespace scopevm::compiler::kernels {

// reduce_* with elementwise ops before it.
llvm::LogicalResult lower_reduction(const FusedBody& body, mlir::Operation* reduction,
                                    LoweringContext& context);
// softmax, log_softmax and layer_norm over the innermost dims, with elementwise ops around.
llvm::LogicalResult lower_rows(const FusedBody& body, mlir::Operation* row_op,
                               LoweringContext& context);
// softmax and log_softmax along another axis, alone.
llvm::LogicalResult lower_columns(mlir::Operation* op, LoweringContext& context);
// arg_max, arg_min and cum_sum: one scalar loop along each line.
llvm::LogicalResult lower_lines(mlir::Operation* op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
