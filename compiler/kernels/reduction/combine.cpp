// Reduction operators.
#include "compiler/kernels/reduction/combine.h"

#include <limits>

namespace scopevm::compiler::kernels {

Term combine(Combine how, Term a, Term b, bool is_unsigned) {
  switch (how) {
    case Combine::kSum:
      return a + b;
    case Combine::kProduct:
      return a * b;
    case Combine::kMax:
      if (a.is_float()) return a.make<mlir::arith::MaximumFOp>(a, b);
      return select(less(a, b, is_unsigned), b, a);
    case Combine::kMin:
      if (a.is_float()) return a.make<mlir::arith::MinimumFOp>(a, b);
      return select(less(b, a, is_unsigned), b, a);
  }
  return a;
}

Term neutral_value(CodeBuilder& k, Combine how, mlir::Type type, bool is_unsigned) {
  mlir::ImplicitLocOpBuilder& builder = k.builder();
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
  return k.term(splat(builder, builder.getLoc(), type, scalar));
}

Term across_lanes(CodeBuilder& k, Combine how, Term lanes, bool is_unsigned) {
  int64_t count = mlir::cast<mlir::VectorType>(lanes.type()).getDimSize(0);
  // A tree of log2(count) dependent operations, instead of a chain of count - 1.
  while (count > 1) {
    count /= 2;
    Term low = k.slice(lanes, 0, count), high = k.slice(lanes, count, count);
    lanes = combine(how, low, high, is_unsigned);
  }
  return k.extract(lanes, 0);
}

Term masked(CodeBuilder& k, Combine how, const Lanes& lanes, Term value, bool is_unsigned) {
  if (!lanes.mask) return value;
  return select(lanes.mask, value, neutral_value(k, how, value.type(), is_unsigned));
}

}  // namespace scopevm::compiler::kernels
