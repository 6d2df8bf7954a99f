// The kernel generators, one folder per family. A generator turns one graph op, or one sv.group,
// into kernels and the steps that launch them.
//
//   builder/      the builders that all generators use, and the form of a kernel (kernel_module.h)
//   elementwise/  elementwise ops, single or fused
//   reduction/    reduce_*, softmax, layer_norm, arg_max, cum_sum
//   contraction/  matmul, attention, det
//   convolution/  conv, conv_transpose
//   pooling/      pools, roi_align
//   indexing/     gather, scatter, one_hot, nonzero
//   selection/    top_k, sort, suppress_boxes
//   layout/       transpose, slice, concat, pad, iota, ...
//   signal/       resize
//   string/       count_ngrams
//   function/     functions, control flow, calls and lists
//   op_lowerings.h    the generator of each op
#pragma once

#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

// Generators that handle several ops, single or in a group: contractions, convolutions, and
// elementwise ops with at most one reduction or row op. Each fails with a diagnostic on `op` for an
// unsupported element type, rank or attribute.
llvm::LogicalResult lower_contraction(mlir::Operation* op, LoweringContext& context);
llvm::LogicalResult lower_convolution(mlir::Operation* op, LoweringContext& context);
llvm::LogicalResult lower_map_reduce(mlir::Operation* op, LoweringContext& context);

// Emits the arithmetic of one elementwise graph op (unary, binary, comparison, select, cast) on
// scalars, or on vectors of equal lane counts, in the operands' arithmetic types: bool is i1, and
// the op's tensor types determine signedness. Shared by the elementwise kernels and the epilogues
// of contractions. Null if `op` is not elementwise.
mlir::Value emit_elementwise(mlir::OpBuilder& builder, mlir::Operation* op,
                             mlir::ValueRange operands);

}  // namespace scopevm::compiler::kernels
