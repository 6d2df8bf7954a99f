// Classifies an op or sv.group for the contraction generators, and decides which elementwise ops
// can join the epilogue of a contraction. The fusion stage forms groups by these rules, and the
// kernels stage matches the groups by them.
#pragma once

#include <optional>

#include "compiler/dims/dim_expr.h"
#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::fusion {

// A contraction, alone or with the elementwise epilogue that its group contains.
struct FusedContraction {
  mlir::Operation* op = nullptr;           // the contraction or its group
  mlir::Operation* contraction = nullptr;  // matmul, conv, conv_transpose
  // In program order: elementwise ops and splat constants.
  llvm::SmallVector<mlir::Operation*> epilogue;
  llvm::SmallVector<mlir::Value> results;  // values of the body, one per result of `op`

  // The group operand of a block argument of the group; any other value is returned unchanged.
  mlir::Value outer(mlir::Value value) const;
  graph::TensorType type() const {
    return mlir::cast<graph::TensorType>(contraction->getResult(0).getType());
  }
};

bool is_contraction(mlir::Operation* op);
// True for an sv.constant whose elements are all equal: it is embedded in the kernel's code.
bool is_splat_constant(mlir::Operation* op);

// Adds the next op of a group's body: the contraction, an op of its epilogue, or a splat constant.
// Returns false if the contraction cannot include the op.
bool take_op(FusedContraction& fused, mlir::Operation* op);

// Fails with a diagnostic if `op` is neither a contraction nor a group of a contraction and its
// epilogue.
llvm::FailureOr<FusedContraction> match_contraction(mlir::Operation* op);

// Attention: softmax(epilogue(a b)) c with softmax along the last dim, where a, b and c are the
// queries, keys and values.
struct FusedAttention {
  FusedContraction scores;   // a b and its epilogue; no results
  mlir::Value score;         // operand of the softmax: the last value of the scores
  FusedContraction product;  // the product with c
};

// Empty unless `op` is a group of ops in this order, which attention_tail() accepts: a product, its
// epilogue, a softmax, and a second product, which the group yields.
std::optional<FusedAttention> match_attention(mlir::Operation* op);

// The softmax of `score`, and the product that uses the softmax. `score` is the result of a
// contraction and its epilogue. Both ops are null unless one kernel can compute all of them.
struct AttentionTail {
  mlir::Operation* softmax = nullptr;
  mlir::Operation* product = nullptr;
};
AttentionTail attention_tail(mlir::Operation* contraction, mlir::Value score);

// A separable convolution of blocked images: a convolution with one group per channel, its
// epilogue, and a convolution of single pixels with its epilogue. The image between them is not
// stored. An inverted residual block (Sandler et al., MobileNetV2: Inverted Residuals and Linear
// Bottlenecks, 2018) begins with an expansion: one more convolution of single pixels with its
// epilogue.
struct FusedSeparable {
  // Its result is the image that the convolution with one group per channel reads.
  std::optional<FusedContraction> expansion;
  FusedContraction depthwise;  // no results
  mlir::Value image;           // the last value of `depthwise`
  FusedContraction pointwise;
};

// Empty unless `op` is a group of these ops in this order.
std::optional<FusedSeparable> match_separable(mlir::Operation* op);

// The convolution with one group per channel of `image`, which is the result of `contraction` and
// its epilogue. Null unless one kernel can compute both and a pointwise_tail(), and is faster.
mlir::Operation* depthwise_tail(mlir::Operation* contraction, mlir::Value image);

// The convolution of single pixels of `image`, which is the result of `contraction` and its
// epilogue. Null unless one kernel can compute both, and is faster.
mlir::Operation* pointwise_tail(mlir::Operation* contraction, mlir::Value image);

// Partition of the axes of a contraction's result: [0, rows) is the batch, [rows, columns) the
// rows, and [columns, rank) the columns. Rows and columns are one loop each, for any number of
// axes.
struct OutputAxes {
  int64_t rows = 0;
  int64_t columns = 0;
};
OutputAxes output_axes(mlir::Operation* contraction);

// How a kernel reads an operand that broadcasts to a contraction's result. The element offset is
// the sum of coordinate * stride over the batch dims, plus row * row_stride, plus column if
// by_column.
struct Access {
  DType dtype = DType::kF32;
  llvm::SmallVector<DimExpr> batch_strides;  // one per batch dim
  DimExpr row_stride;
  bool by_column = false;
  // The operand broadcasts along all batch dims or along none, so that the batch can be one loop.
  bool batch_is_one = true;
};

// Empty if no Access describes the broadcast: it needs one stride for all rows, and columns that
// are contiguous or all equal.
std::optional<Access> access_of(graph::TensorType operand, graph::TensorType result,
                                const OutputAxes& axes);

// Replaces the strides of all batch dims by one stride. REQUIRES: batch_is_one.
void collapse_batch(Access& access);

// The factor of an operand's stride along an axis, for the dims of operand and result: 1 if they
// are equal, 0 if the operand broadcasts.
DimExpr stride_factor(DimExpr operand, DimExpr result);

// True if `elementwise`, which uses a result of the contraction or of its epilogue, can join the
// epilogue.
bool can_fuse_epilogue(mlir::Operation* contraction, mlir::Operation* elementwise);

}  // namespace scopevm::compiler::fusion
