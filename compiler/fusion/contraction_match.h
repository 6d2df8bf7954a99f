// Classifies an op or sv.group for the contraction generators, and decides which elementwise ops
// can join the epilogue of a contraction. Fusion forms groups by these rules; the kernels stage
// matches the groups with them.
#pragma once

#include <optional>

#include "compiler/graph/graph_ops.h"
#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler::fusion {

// A contraction, alone or with the elementwise epilogue that its group contains.
struct FusedContraction {
  mlir::Operation* op = nullptr;           // the contraction or its group
  mlir::Operation* contraction = nullptr;  // matmul, conv, conv_transpose
  // In program order: elementwise ops and splat constants.
  llvm::SmallVector<mlir::Operation*> epilogue;
  llvm::SmallVector<mlir::Value> results;  // computed values, one per result of `op`

  // The group operand of a block argument of the group; any other value is returned unchanged.
  mlir::Value outer(mlir::Value value) const;
  graph::TensorType type() const {
    return mlir::cast<graph::TensorType>(contraction->getResult(0).getType());
  }
};

bool is_contraction(mlir::Operation* op);
// True for an sv.constant whose elements are all equal: it is embedded in the kernel's code.
bool is_splat_constant(mlir::Operation* op);

// Fails with a diagnostic if the generators do not support `op`.
llvm::FailureOr<FusedContraction> match_contraction(mlir::Operation* op);

// Attention: softmax(epilogue(a b)) c, softmax along the last dim, with a, b, c for queries, keys
// and values.
struct FusedAttention {
  FusedContraction scores;   // a b and its epilogue; no results
  mlir::Value score;         // operand of the softmax: the last value of the scores
  FusedContraction product;  // the product with c
};

// Empty if `op` is not a group of this form.
std::optional<FusedAttention> match_attention(mlir::Operation* op);

// The softmax that consumes `score` (a product with epilogue) and the product that consumes the
// softmax, if one kernel can compute all of them; else nulls.
struct AttentionTail {
  mlir::Operation* softmax = nullptr;
  mlir::Operation* product = nullptr;
};
AttentionTail attention_tail(mlir::Operation* contraction, mlir::Value score);

// Partition of a contraction result's dims: batch [0, rows), rows [rows, columns), columns
// [columns, rank). Rows and columns are one loop each, whatever their number of dims.
struct OutputAxes {
  int64_t rows = 0;
  int64_t columns = 0;
};
OutputAxes output_axes(mlir::Operation* contraction);

// Element offsets of an operand that broadcasts to a contraction's result: sum of coordinate *
// stride over the batch dims, + row * row_stride, + column if by_column.
struct Access {
  DType dtype = DType::kF32;
  llvm::SmallVector<DimExpr> batch_strides;  // one per batch dim
  DimExpr row_stride;
  bool by_column = false;
  // Either no batch dim or every batch dim is indexed, so that the batch can be a single loop.
  bool batch_is_one = true;
};

// Empty if the broadcast cannot be expressed with one stride for all rows and one for all columns.
std::optional<Access> access_of(graph::TensorType operand, graph::TensorType result,
                                const OutputAxes& axes);

// Replaces the batch dims by a single one. REQUIRES: batch_is_one.
void collapse_batch(Access& access);

// 1 if the operand's dim equals the result's, 0 if it is broadcast, as an expression.
DimExpr stride_factor(DimExpr operand, DimExpr result);

// True if `elementwise` can join the contraction's kernel. Its operands include results of the
// contraction or of ops already fused into it.
bool can_fuse_epilogue(mlir::Operation* contraction, mlir::Operation* elementwise);

}  // namespace scopevm::compiler::fusion
