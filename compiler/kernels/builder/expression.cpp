// Expressions -> arith and math operations.
#include "compiler/kernels/builder/expression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace scopevm::compiler::kernels::movement {
namespace {

namespace arith = mlir::arith;

bool is_float(Val x) { return mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(x.type())); }

template <typename Op, typename... Args>
Val make(Val like, Args&&... args) {
  return {&like.builder(), like.builder().createOrFold<Op>(std::forward<Args>(args)...)};
}

template <typename FloatOp, typename IntOp>
Val arithmetic(Val a, Val b) {
  return is_float(a) ? make<FloatOp>(a, a, b) : make<IntOp>(a, a, b);
}

Val compare(Val a, Val b, arith::CmpFPredicate of_floats, arith::CmpIPredicate of_integers) {
  return is_float(a) ? make<arith::CmpFOp>(a, of_floats, a, b)
                     : make<arith::CmpIOp>(a, of_integers, a, b);
}

Val constant(Val like, mlir::TypedAttr element) {
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(like.type()))
    element = mlir::DenseElementsAttr::get(vector, llvm::ArrayRef<mlir::Attribute>(element));
  return {&like.builder(), like.builder().create<arith::ConstantOp>(element)};
}

}  // namespace

Val Val::literal(double number) const {
  return constant(*this, builder_->getFloatAttr(mlir::getElementTypeOrSelf(type()), number));
}

Val Val::literal(int64_t number) const {
  if (is_float(*this)) return literal(static_cast<double>(number));
  return constant(*this, builder_->getIntegerAttr(mlir::getElementTypeOrSelf(type()), number));
}

Val operator+(Val a, Val b) { return arithmetic<arith::AddFOp, arith::AddIOp>(a, b); }
Val operator-(Val a, Val b) { return arithmetic<arith::SubFOp, arith::SubIOp>(a, b); }
Val operator*(Val a, Val b) { return arithmetic<arith::MulFOp, arith::MulIOp>(a, b); }
Val operator/(Val a, Val b) { return arithmetic<arith::DivFOp, arith::DivSIOp>(a, b); }
Val operator&&(Val a, Val b) { return make<arith::AndIOp>(a, a, b); }

Val operator<(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Val operator<=(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Val operator==(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Val less(Val a, Val b, bool is_unsigned) {
  return compare(a, b, arith::CmpFPredicate::OLT,
                 is_unsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt);
}

Val quotient(Val a, Val b) { return make<arith::DivUIOp>(a, a, b); }
Val remainder(Val a, Val b) { return make<arith::RemUIOp>(a, a, b); }
Val ceil_quotient(Val a, Val b) { return quotient(a + b - 1, b); }

Val select(Val condition, Val a, Val b) { return make<arith::SelectOp>(a, condition, a, b); }
Val min(Val a, Val b) { return select(b < a, b, a); }
Val max(Val a, Val b) { return select(a < b, b, a); }
Val clamp(Val x, Val low, Val high) { return max(low, min(x, high)); }

Val floor(Val x) { return make<mlir::math::FloorOp>(x, x); }
Val ceil(Val x) { return make<mlir::math::CeilOp>(x, x); }

Val convert(Val x, mlir::Type type) {
  const mlir::Value from = x;
  const bool to_float = mlir::isa<mlir::FloatType>(type);
  if (from.getType() == type) return x;
  if (is_float(x) ? type.isIndex() : from.getType().isIndex() && to_float)
    return convert(convert(x, x.builder().getI64Type()), type);
  if (type.isIndex() || from.getType().isIndex()) return make<arith::IndexCastOp>(x, type, from);
  if (is_float(x) != to_float)
    return to_float ? make<arith::SIToFPOp>(x, type, from) : make<arith::FPToSIOp>(x, type, from);
  bool widens = type.getIntOrFloatBitWidth() > from.getType().getIntOrFloatBitWidth();
  if (to_float)
    return widens ? make<arith::ExtFOp>(x, type, from) : make<arith::TruncFOp>(x, type, from);
  return widens ? make<arith::ExtSIOp>(x, type, from) : make<arith::TruncIOp>(x, type, from);
}

}  // namespace scopevm::compiler::kernels::movement
