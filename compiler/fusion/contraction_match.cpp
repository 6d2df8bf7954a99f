// Matches groups as contractions with epilogues, and describes broadcast operands by strides; see
// contraction_match.h.
#include "compiler/fusion/contraction_match.h"

#include "compiler/graph/values/elements.h"
#include "llvm/ADT/STLExtras.h"

namespace scopevm::compiler::fusion {
namespace {

using graph::TensorType;

bool is_single_matrix(TensorType type) {
  for (DimExpr dim : type.getShape().drop_back(std::min<int64_t>(type.getRank(), 2)))
    if (!dim.is_constant(1)) return false;
  return true;
}

// The dims of an operand, padded with ones at the front, that correspond to a range of result axes.
struct Span {
  bool full = true;  // every dim equals the result's
  bool none = true;  // every dim is 1
};

}  // namespace

bool is_contraction(mlir::Operation* op) {
  return mlir::isa<graph::MatMulOp, graph::ConvOp, graph::BlockedConvOp, graph::ConvTransposeOp,
                   graph::BlockedConvTransposeOp>(op);
}

bool is_splat_constant(mlir::Operation* op) {
  auto constant = mlir::dyn_cast<graph::ConstantOp>(op);
  uint64_t bits;
  return constant &&
         graph::is_splat(constant.getValue(),
                         mlir::cast<TensorType>(constant.getResult().getType()).getDtype(), bits);
}

mlir::Value FusedContraction::outer(mlir::Value value) const {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != op || op == contraction) return value;
  return op->getOperand(argument.getArgNumber());
}

bool take_op(FusedContraction& fused, mlir::Operation* op) {
  if (!fused.contraction && is_contraction(op)) {
    fused.contraction = op;
    return true;
  }
  if (!is_splat_constant(op) && !(fused.contraction && can_fuse_epilogue(fused.contraction, op)))
    return false;
  fused.epilogue.push_back(op);
  return true;
}

llvm::FailureOr<FusedContraction> match_contraction(mlir::Operation* op) {
  FusedContraction fused;
  fused.op = op;
  if (is_contraction(op)) {
    fused.contraction = op;
    fused.results.push_back(op->getResult(0));
    return fused;
  }
  auto group = mlir::dyn_cast<graph::GroupOp>(op);
  if (!group) return op->emitOpError("is not a contraction"), mlir::failure();
  for (mlir::Operation& inner : group.getBody().front()) {
    if (auto yield = mlir::dyn_cast<graph::YieldOp>(inner)) {
      fused.results.append(yield.getValues().begin(), yield.getValues().end());
    } else if (!take_op(fused, &inner)) {
      return op->emitOpError("contains ")
                 << inner.getName() << ", which cannot be fused into a contraction",
             mlir::failure();
    }
  }
  if (!fused.contraction) return op->emitOpError("contains no contraction"), mlir::failure();
  for (mlir::Value result : fused.results)
    if (!result.getDefiningOp())
      return op->emitOpError("yields one of its operands, expected results of its body"),
             mlir::failure();
  return fused;
}

OutputAxes output_axes(mlir::Operation* contraction) {
  auto type = mlir::cast<TensorType>(contraction->getResult(0).getType());
  auto matmul = mlir::dyn_cast<graph::MatMulOp>(contraction);
  // The result is [batch, channel blocks, height, width, 16]: rows are pixels.
  if (mlir::isa<graph::BlockedConvOp, graph::BlockedConvTransposeOp>(contraction))
    return {.rows = 2, .columns = 4};
  // The result of a convolution is [batch, channels, spatial...]: rows are channels.
  if (!matmul) return {.rows = 1, .columns = 2};
  auto a = mlir::cast<TensorType>(matmul.getA().getType());
  auto b = mlir::cast<TensorType>(matmul.getB().getType());
  OutputAxes axes;
  axes.columns = type.getRank() - (b.getRank() == 1 ? 0 : 1);
  axes.rows = axes.columns - (a.getRank() == 1 ? 0 : 1);
  // If b is a single matrix and a is not transposed, the batch dims of a are additional rows.
  if (is_single_matrix(b) && !matmul.getTransposeA() && a.getRank() > 1) axes.rows = 0;
  return axes;
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
  auto result = mlir::cast<TensorType>(contraction->getResult(0).getType());
  auto own = mlir::cast<TensorType>(elementwise->getResult(0).getType());
  if (own.getShape() != result.getShape()) return false;
  OutputAxes axes = output_axes(contraction);
  return llvm::all_of(elementwise->getOperandTypes(), [&](mlir::Type type) {
    return access_of(mlir::cast<TensorType>(type), result, axes).has_value();
  });
}

}  // namespace scopevm::compiler::fusion
