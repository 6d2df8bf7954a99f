// See the header.
#include "compiler/kernels/reduction/combine.h"

#include <limits>

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {

Term combine(Combine how, Term a, Term b, bool is_unsigned) {
  switch (how) {
    case Combine::kSum:
      return a + b;
    case Combine::kProduct:
      return a * b;
    case Combine::kMax:
      if (a.is_float())
        return a.with(a.builder->create<mlir::arith::MaximumFOp>(a.location, a.value, b.value));
      return choose(less(a, b, is_unsigned), b, a);
    case Combine::kMin:
      if (a.is_float())
        return a.with(a.builder->create<mlir::arith::MinimumFOp>(a.location, a.value, b.value));
      return choose(less(b, a, is_unsigned), b, a);
  }
  return a;
}

mlir::Value neutral_value(KernelDraft& draft, Combine how, mlir::Type type, bool is_unsigned) {
  mlir::OpBuilder& builder = draft.builder();
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  mlir::TypedAttr scalar;
  if (mlir::isa<mlir::FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    double value = how == Combine::kSum       ? 0.0
                   : how == Combine::kProduct ? 1.0
                   : how == Combine::kMax     ? -infinity
                                              : infinity;
    scalar = builder.getFloatAttr(element, value);
  } else {
    unsigned bits = element.getIntOrFloatBitWidth();
    llvm::APInt value(bits, how == Combine::kProduct ? 1 : 0);
    if (how == Combine::kMax && !is_unsigned) value = llvm::APInt::getSignedMinValue(bits);
    if (how == Combine::kMin)
      value = is_unsigned ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits);
    scalar = builder.getIntegerAttr(element, value);
  }
  return splat(builder, draft.location(), type, scalar);
}

mlir::Value across_lanes(KernelDraft& draft, Combine how, mlir::Value lanes, bool is_unsigned) {
  mlir::OpBuilder& builder = draft.builder();
  int64_t count = mlir::cast<mlir::VectorType>(lanes.getType()).getDimSize(0);
  while (count > 1) {
    count /= 2;
    auto half = [&](int64_t from) {
      return draft.term(builder.create<mlir::vector::ExtractStridedSliceOp>(
          draft.location(), lanes, llvm::ArrayRef<int64_t>{from}, llvm::ArrayRef<int64_t>{count},
          llvm::ArrayRef<int64_t>{1}));
    };
    lanes = combine(how, half(0), half(count), is_unsigned).value;
  }
  return builder.create<mlir::vector::ExtractOp>(draft.location(), lanes,
                                                 llvm::ArrayRef<int64_t>{0});
}

mlir::Value masked(KernelDraft& draft, Combine how, const Lanes& lanes, mlir::Value value,
                   bool is_unsigned) {
  if (!lanes.mask) return value;
  Term other = draft.term(neutral_value(draft, how, value.getType(), is_unsigned));
  return choose(draft.term(lanes.mask), draft.term(value), other).value;
}

}  // namespace scopevm::compiler::kernels
