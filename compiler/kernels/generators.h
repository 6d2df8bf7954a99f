// The kernel generators, one folder per family. A generator turns one graph op, or one sv.group,
// into kernels and the steps that launch them.
//
//   target/       the properties of a device for which kernels are generated
//   builder/      the builders that all generators use, and the form of a kernel (kernel_module.h)
//   elementwise/  elementwise ops, single or fused
//   reduction/    reduce_*, softmax, log_softmax, layer_norm, arg_max, arg_min, cum_sum, cum_prod
//   contraction/  matmul, attention, det
//   convolution/  conv, conv_transpose
//   pooling/      pools, roi_align
//   indexing/     gather, scatter, one_hot, nonzero
//   selection/    top_k, sort_rows, unique_rows, suppress_boxes
//   layout/       transpose, slice, concat, pad, iota, ...
//   signal/       resize
//   string/       count_ngrams
//   function/     functions, control flow, calls, lists, and other ops without kernels
//
// op_lowerings.h declares the lowering of each op.
#pragma once

#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

// The generators of several ops. `op` is a single op or a group. lower_contraction lowers matrix
// products and attention, lower_convolution lowers convolutions, and lower_map_reduce lowers the
// ops of elementwise/ and reduction/. Each generator fails with a diagnostic on `op` for an
// unsupported element type, rank or attribute.
llvm::LogicalResult lower_contraction(mlir::Operation* op, LoweringContext& context);
llvm::LogicalResult lower_convolution(mlir::Operation* op, LoweringContext& context);
llvm::LogicalResult lower_map_reduce(mlir::Operation* op, LoweringContext& context);

// Emits the arithmetic of an elementwise graph op and returns its result, or null if `op` is not
// elementwise. `operands` are scalars, or vectors of equal length, in the arithmetic types of the
// op's operands (arithmetic_type). The op's tensor types determine signedness. Evaluator
// (elementwise/evaluate.h) and the epilogues of contractions use this function.
mlir::Value emit_elementwise(mlir::OpBuilder& builder, mlir::Operation* op,
                             mlir::ValueRange operands);

}  // namespace scopevm::compiler::kernels
