// What an op or an sv.group is to the contraction generators, and which elementwise ops can become
// the epilogue of a contraction. Fusion forms groups by these rules and kernels read them back.
#pragma once

#include <optional>

#include "compiler/graph/graph_ops.h"
#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler::fusion {

// A contraction, alone or with the elementwise ops that a group put behind it.
struct FusedContraction {
  mlir::Operation* op = nullptr;                 // what is lowered: the contraction or its group
  mlir::Operation* contraction = nullptr;        // matmul, conv, conv_transpose
  llvm::SmallVector<mlir::Operation*> epilogue;  // in order; elementwise, and splat constants
  llvm::SmallVector<mlir::Value> results;        // computed values, one per result of `op`

  // The value outside of the group that a block argument stands for; any other value is itself.
  mlir::Value outer(mlir::Value value) const;
  graph::TensorType type() const {
    return mlir::cast<graph::TensorType>(contraction->getResult(0).getType());
  }
};

bool is_contraction(mlir::Operation* op);
// True for an sv.constant whose elements are equal: it becomes part of a kernel's code.
bool is_splat_constant(mlir::Operation* op);

// Fails with a diagnostic when `op` is no group that the generators handle.
llvm::FailureOr<FusedContraction> match_contraction(mlir::Operation* op);

// softmax(epilogue(a b)) c, softmax along the last dim: what attention does with queries, keys and
// values.
struct FusedAttention {
  FusedContraction scores;   // a b and its epilogue; no results
  mlir::Value score;         // what the softmax takes: the scores' last value
  FusedContraction product;  // with c
};

// Empty when `op` is no group of that form.
std::optional<FusedAttention> match_attention(mlir::Operation* op);

// The softmax behind `score`, which a product and an epilogue behind it have made, and the product
// behind the softmax, when one kernel can compute them all; else nulls.
struct AttentionTail {
  mlir::Operation* softmax = nullptr;
  mlir::Operation* product = nullptr;
};
AttentionTail attention_tail(mlir::Operation* contraction, mlir::Value score);

// How the dims of a contraction's result fall into batch, rows and columns: [0, rows), [rows,
// columns), [columns, rank). Rows and columns are one loop each, whatever their number of dims.
struct OutputAxes {
  int64_t rows = 0;
  int64_t columns = 0;
};
OutputAxes output_axes(mlir::Operation* contraction);

// Where an operand that broadcasts to a contraction's result has its elements:
// sum of coordinate * stride over the batch dims, + row * row_stride, + column if by_column.
struct Access {
  DType dtype = DType::kF32;
  llvm::SmallVector<DimExpr> batch_strides;  // one per batch dim
  DimExpr row_stride;
  bool by_column = false;
  // Nothing, or everything, of the batch is indexed: its dims may be one.
  bool batch_is_one = true;
};

// Empty when the operand broadcasts in a way that one stride for rows, and for columns, cannot say.
std::optional<Access> access_of(graph::TensorType operand, graph::TensorType result,
                                const OutputAxes& axes);

// Replaces the batch dims by one. REQUIRES: batch_is_one.
void collapse_batch(Access& access);

// 1 where an operand's dim is the result's, 0 where it is broadcast, as an expression.
DimExpr stride_factor(DimExpr operand, DimExpr result);

// True when `elementwise`, whose operands include results of the contraction or of ops fused behind
// it, can join the contraction's kernel.
bool can_fuse_epilogue(mlir::Operation* contraction, mlir::Operation* elementwise);

}  // namespace scopevm::compiler::fusion
