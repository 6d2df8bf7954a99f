// Classifies an op or sv.group for the contraction generators, and decides which elementwise ops
// can join the epilogue of a contraction. The fusion stage forms groups by these rules, and the
// kernels stage matches the groups by them.
#pragma once

#include <optional>

#include "compiler/dims/dim_expr.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/group.h"

namespace scopevm::compiler::fusion {

// A contraction, alone or with the elementwise epilogue that its group contains. The operands of a
// matrix product can be slices in the group, for which is_row_prefix() holds.
struct FusedContraction {
  mlir::Operation* op = nullptr;           // the contraction or its group
  mlir::Operation* contraction = nullptr;  // a graph::ContractionOp
  // In program order: elementwise ops and splat constants.
  llvm::SmallVector<mlir::Operation*> epilogue;
  llvm::SmallVector<mlir::Value> results;  // values of the body, one per result of `op`

  // The group operand of a block argument of the group; any other value is returned unchanged.
  mlir::Value outer(mlir::Value value) const { return graph::outer_value(value, op); }
  // The tensor from outside the group in which the operand's elements are stored: of a slice in the
  // group, the tensor that it slices.
  mlir::Value stored(mlir::Value operand) const;
  graph::TensorType type() const { return graph::type_of(contraction->getResult(0)); }
  graph::OutputAxes axes() const {
    return mlir::cast<graph::ContractionOp>(contraction).getOutputAxes();
  }
};

// True if the slice has the first rows of each matrix of x. The kernel of a product reads them in
// x: only the strides of the batch dims differ.
bool is_row_prefix(graph::SliceOp slice);

// Adds the next op of a group's body: a slice that the contraction reads, the contraction, an op of
// its epilogue, or a splat constant. Returns false if the contraction cannot include the op.
bool take_op(FusedContraction& fused, mlir::Operation* op);

// Fails with a diagnostic if `op` is neither a contraction nor a group of a contraction and its
// epilogue.
llvm::FailureOr<FusedContraction> match_contraction(mlir::Operation* op);

// The only user of the value, if it is in the value's block. Null otherwise.
mlir::Operation* only_user(mlir::Value value);

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
                                const graph::OutputAxes& axes);

// Replaces the strides of all batch dims by one stride. REQUIRES: batch_is_one.
void collapse_batch(Access& access);

// The factor of an operand's stride along an axis, for the dims of operand and result: 1 if they
// are equal, 0 if the operand broadcasts.
DimExpr stride_factor(DimExpr operand, DimExpr result);

// True if `elementwise`, which uses a result of the contraction or of its epilogue, can join the
// epilogue.
bool can_fuse_epilogue(mlir::Operation* contraction, mlir::Operation* elementwise);

}  // namespace scopevm::compiler::fusion
