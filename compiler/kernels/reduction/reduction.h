// The generators of reductions, of cum_sum and cum_prod, and of ops that normalise along dims. Each
// appends the launch of one op or group.
#pragma once

#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/elementwise/fused_body.h"

namespace scopevm::compiler::kernels {

// reduce_*, with elementwise ops before it.
llvm::LogicalResult lower_reduction(const FusedBody& body, mlir::Operation* reduction,
                                    LoweringContext& context);
// softmax, log_softmax and layer_norm over the innermost dims, with elementwise ops before and
// after.
llvm::LogicalResult lower_rows(const FusedBody& body, mlir::Operation* row_op,
                               LoweringContext& context);
// softmax and log_softmax along another axis, without fused ops.
llvm::LogicalResult lower_columns(mlir::Operation* op, LoweringContext& context);
// arg_max, arg_min, cum_sum and cum_prod, by scalar loops along the axis.
llvm::LogicalResult lower_lines(mlir::Operation* op, LoweringContext& context);

}  // namespace scopevm::compiler::kernels
