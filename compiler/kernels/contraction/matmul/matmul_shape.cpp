// The dims of matrix products.
#include "compiler/kernels/contraction/matmul/matmul_shape.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;
TensorType tensor(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

// The strides of an operand over the batch dims of the result, in the tensor that stores it.
Access batch_access(TensorType operand, TensorType result, int64_t batch) {
  DimExpr stride = 1;
  int64_t leading = std::max<int64_t>(operand.getRank() - 2, 0);
  for (int64_t axis = leading; axis < operand.getRank(); ++axis)
    stride = stride * operand.getDim(axis);
  Access access;
  access.batch_strides.resize(batch);
  bool full = true, none = true;
  for (int64_t axis = batch; axis-- > 0;) {
    // Batch dims broadcast as in NumPy: they are aligned at the last dim, and missing dims are 1.
    int64_t own = axis - (batch - leading);
    DimExpr dim = own < 0 ? DimExpr(1) : operand.getDim(own);
    full &= dim == result.getDim(axis);
    none &= dim.is_constant(1);
    access.batch_strides[axis] = stride * fusion::stride_factor(dim, result.getDim(axis));
    stride = stride * dim;
  }
  // An operand whose batch dims are all 1 does not move along a merged batch, so all its strides
  // are 0. A result dim of 1 would otherwise give it a stride.
  if (none) std::fill(access.batch_strides.begin(), access.batch_strides.end(), DimExpr(0));
  access.batch_is_one = full || none;
  return access;
}

}  // namespace

MatMulShape::MatMulShape(const FusedContraction& fused) {
  const graph::OutputAxes axes = fused.axes();
  if (auto op = mlir::dyn_cast<graph::MatMulBlocksOp>(fused.contraction)) {
    for (int64_t axis = 0; axis < axes.columns; ++axis) rows = rows * fused.type().getDim(axis);
    columns = fused.type().getDim(axes.columns);
    depth = static_cast<int64_t>(op.getDepth());
    return;
  }
  auto op = mlir::cast<graph::MatMulOp>(fused.contraction);
  TensorType a_type = tensor(op.getA()), b_type = tensor(op.getB()), result = fused.type();
  int64_t a_rank = a_type.getRank(), b_rank = b_type.getRank();
  transpose_a = op.getTransposeA() && a_rank > 1;
  transpose_b = op.getTransposeB() && b_rank > 1;
  depth = a_type.getDim(transpose_a ? a_rank - 2 : a_rank - 1);
  DimExpr b_depth = b_type.getDim(b_rank == 1 || transpose_b ? b_rank - 1 : b_rank - 2);
  // The depths of a and b are equal. If one of them is constant, it is used: it gives simpler
  // formulas and allows packing at compile time.
  if (b_depth.is_constant()) depth = b_depth;
  for (int64_t axis = 0; axis < axes.rows; ++axis) batch.push_back(result.getDim(axis));
  for (int64_t axis = axes.rows; axis < axes.columns; ++axis) rows = rows * result.getDim(axis);
  for (int64_t axis = axes.columns; axis < result.getRank(); ++axis)
    columns = columns * result.getDim(axis);
  a = batch_access(tensor(fused.stored(op.getA())), result, axes.rows);
  b = batch_access(tensor(fused.stored(op.getB())), result, axes.rows);
  for (int64_t axis = 0; axis < b_rank - 2; ++axis)
    b_is_single &= b_type.getDim(axis).is_constant(1);
}

Epilogue MatMulShape::make_epilogue(const FusedContraction& fused) {
  Epilogue epilogue(fused);
  // With one batch dim, an item needs no divisions to compute its batch coordinates.
  if (batch.size() < 2 || !a.batch_is_one || !b.batch_is_one || !epilogue.batch_is_one())
    return epilogue;
  fusion::collapse_batch(a);
  fusion::collapse_batch(b);
  epilogue.collapse_batch();
  batch = {element_count(batch)};
  return epilogue;
}

BatchCoordinates::BatchCoordinates(KernelBuilder& k, const MatMulShape& shape) {
  for (DimExpr dim : shape.batch) dims_.push_back(k.param(dim));
  for (DimExpr stride : shape.a.batch_strides) a_strides_.push_back(k.param(stride));
  for (DimExpr stride : shape.b.batch_strides) b_strides_.push_back(k.param(stride));
}

Terms BatchCoordinates::coordinates(Term batch) const {
  Terms at(dims_.size());
  for (size_t axis = at.size(); axis-- > 0;) {
    at[axis] = axis == 0 ? batch : remainder(batch, dims_[axis]);
    if (axis > 0) batch = quotient(batch, dims_[axis]);
  }
  return at;
}

Term BatchCoordinates::start(CodeBuilder& e, llvm::ArrayRef<Term> at,
                             llvm::ArrayRef<Term> strides) {
  Term start = e.index(0);
  for (auto [coordinate, stride] : llvm::zip(at, strides)) start = start + coordinate * stride;
  return start;
}

}  // namespace scopevm::compiler::kernels
