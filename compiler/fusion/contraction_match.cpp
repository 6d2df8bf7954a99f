// Matches groups as contractions with epilogues, and describes broadcast operands by strides; see
// contraction_match.h.
#include "compiler/fusion/contraction_match.h"

#include "compiler/graph/values/elements.h"
#include "llvm/ADT/STLExtras.h"

namespace scopevm::compiler::fusion {
namespace {

using graph::OutputAxes;
using graph::TensorType;
using graph::type_of;

// The dims of an operand, padded with ones at the front, that correspond to a range of result axes.
struct Span {
  bool full = true;  // every dim equals the result's
  bool none = true;  // every dim is 1
};

}  // namespace

mlir::Value FusedContraction::stored(mlir::Value operand) const {
  auto slice = operand.getDefiningOp<graph::SliceOp>();
  return outer(slice && slice->getParentOp() == op ? slice.getX() : operand);
}

bool is_row_prefix(graph::SliceOp slice) {
  const TensorType x = type_of(slice.getX());
  const int64_t row_axis = x.getRank() - 2;
  for (int64_t axis = 0; axis < x.getRank(); ++axis)
    if (slice.getSteps()[axis] != 1 || !slice.getStarts().getValue()[axis].is_constant(0) ||
        (axis != row_axis && slice.getSizes().getValue()[axis] != x.getDim(axis)))
      return false;
  return row_axis >= 0;
}

bool take_op(FusedContraction& fused, mlir::Operation* op) {
  if (auto slice = mlir::dyn_cast<graph::SliceOp>(op); slice && !fused.contraction)
    return is_row_prefix(slice);
  if (!fused.contraction && mlir::isa<graph::ContractionOp>(op)) {
    fused.contraction = op;
    return true;
  }
  if (!graph::splat_bits(op) && !(fused.contraction && can_fuse_epilogue(fused.contraction, op)))
    return false;
  fused.epilogue.push_back(op);
  return true;
}

llvm::FailureOr<FusedContraction> match_contraction(mlir::Operation* op) {
  FusedContraction fused;
  fused.op = op;
  if (mlir::isa<graph::ContractionOp>(op)) {
    fused.contraction = op;
    fused.results.push_back(op->getResult(0));
    return fused;
  }
  if (!op->hasTrait<graph::HasIsolatedBody>())
    return op->emitOpError("is not a contraction"), mlir::failure();
  mlir::Block& body = op->getRegion(0).front();
  for (mlir::Operation& inner : body.without_terminator())
    if (!take_op(fused, &inner))
      return op->emitOpError("contains ")
                 << inner.getName() << ", which cannot be fused into a contraction",
             mlir::failure();
  llvm::append_range(fused.results, body.getTerminator()->getOperands());
  if (!fused.contraction) return op->emitOpError("contains no contraction"), mlir::failure();
  for (mlir::Value result : fused.results)
    if (!result.getDefiningOp())
      return op->emitOpError("yields one of its operands, expected results of its body"),
             mlir::failure();
  return fused;
}

mlir::Operation* only_user(mlir::Value value) {
  mlir::Operation* user = value.hasOneUse() ? *value.user_begin() : nullptr;
  return user && user->getBlock() == value.getParentBlock() ? user : nullptr;
}

DimExpr stride_factor(DimExpr operand, DimExpr result) {
  if (operand == result) return 1;
  // A symbolic dim is 1 or equals the result's dim. The minimum selects the factor at run time.
  return operand.is_constant(1) ? DimExpr(0) : min(operand - 1, 1);
}

std::optional<Access> access_of(TensorType operand, TensorType result, const OutputAxes& axes) {
  int64_t rank = result.getRank(), missing = rank - operand.getRank();
  if (missing < 0) return std::nullopt;
  auto dim = [&](int64_t axis) {
    return axis < missing ? DimExpr(1) : operand.getDim(axis - missing);
  };
  auto span = [&](int64_t from, int64_t to) {
    Span span;
    for (int64_t axis = from; axis < to; ++axis) {
      span.full &= dim(axis) == result.getDim(axis);
      span.none &= dim(axis).is_constant(1);
    }
    return span;
  };
  Access access{.dtype = operand.getDtype()};
  Span columns = span(axes.columns, rank), rows = span(axes.rows, axes.columns);
  // An Access has no column stride: the columns are contiguous, or one element serves all of them.
  if (!columns.full && !columns.none) return std::nullopt;
  access.by_column = columns.full;
  DimExpr stride = 1;
  for (int64_t axis = axes.columns; axis < rank; ++axis) stride = stride * dim(axis);
  if (rows.full) {
    access.row_stride = stride;
  } else if (rows.none) {
    access.row_stride = 0;
  } else if (axes.columns - axes.rows == 1) {
    // A single row axis may broadcast at run time. Several row axes form one loop, so they need a
    // common stride.
    access.row_stride = stride * stride_factor(dim(axes.rows), result.getDim(axes.rows));
  } else {
    return std::nullopt;
  }
  for (int64_t axis = axes.rows; axis < axes.columns; ++axis) stride = stride * dim(axis);
  access.batch_strides.resize(axes.rows);
  for (int64_t axis = axes.rows; axis-- > 0;) {
    access.batch_strides[axis] = stride * stride_factor(dim(axis), result.getDim(axis));
    stride = stride * dim(axis);
  }
  Span batch = span(0, axes.rows);
  // A dim that is 1 in operand and result has a nonzero stride. collapse_batch() must not use it as
  // the stride of the whole batch.
  if (batch.none) std::fill(access.batch_strides.begin(), access.batch_strides.end(), DimExpr(0));
  access.batch_is_one = batch.full || batch.none;
  return access;
}

void collapse_batch(Access& access) {
  if (access.batch_strides.size() > 1) access.batch_strides = {access.batch_strides.back()};
}

bool can_fuse_epilogue(mlir::Operation* contraction, mlir::Operation* elementwise) {
  if (!mlir::isa<graph::ElementwiseOp>(elementwise) || elementwise->getNumResults() != 1)
    return false;
  const TensorType result = type_of(contraction->getResult(0));
  if (type_of(elementwise->getResult(0)).getShape() != result.getShape()) return false;
  const OutputAxes axes = mlir::cast<graph::ContractionOp>(contraction).getOutputAxes();
  return llvm::all_of(elementwise->getOperandTypes(), [&](mlir::Type type) {
    return access_of(mlir::cast<TensorType>(type), result, axes).has_value();
  });
}

}  // namespace scopevm::compiler::fusion
