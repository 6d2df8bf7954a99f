// Translates terms to arith and math operations.
#include "compiler/kernels/builder/term.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;

template <typename FloatOp, typename IntOp>
Term binary(Term a, Term b) {
  if (a.is_float()) return a.make<FloatOp>(a, b);
  return a.make<IntOp>(a, b);
}

Term compare(Term a, Term b, arith::CmpFPredicate floats, arith::CmpIPredicate integers) {
  if (a.is_float()) return a.make<arith::CmpFOp>(floats, a, b);
  return a.make<arith::CmpIOp>(integers, a, b);
}

}  // namespace

mlir::Type Term::like(mlir::Type element) const {
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type())) return vector.clone(element);
  return element;
}

llvm::SmallVector<mlir::Value> values_of(llvm::ArrayRef<Term> terms) {
  return {terms.begin(), terms.end()};
}

mlir::Value splat(mlir::OpBuilder& builder, mlir::Location location, mlir::Type type,
                  mlir::TypedAttr scalar) {
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
    scalar = mlir::DenseElementsAttr::get(vector, mlir::Attribute(scalar));
  return builder.create<arith::ConstantOp>(location, scalar);
}

Term Term::number(mlir::Type element, double value) const {
  if (mlir::isa<mlir::FloatType>(element))
    return with(splat(*builder, location, like(element), builder->getFloatAttr(element, value)));
  return integer(element, static_cast<int64_t>(value));
}
Term Term::integer(mlir::Type element, int64_t value) const {
  mlir::TypedAttr scalar;
  if (mlir::isa<mlir::IndexType>(element)) {
    scalar = builder->getIndexAttr(value);
  } else {
    llvm::APInt bits(64, static_cast<uint64_t>(value), true);
    scalar = builder->getIntegerAttr(element, bits.trunc(element.getIntOrFloatBitWidth()));
  }
  return with(splat(*builder, location, like(element), scalar));
}
Term Term::number(double value) const { return number(element(), value); }
Term Term::integer(int64_t value) const { return integer(element(), value); }

Term operator+(Term a, Term b) { return binary<arith::AddFOp, arith::AddIOp>(a, b); }
Term operator-(Term a, Term b) { return binary<arith::SubFOp, arith::SubIOp>(a, b); }
Term operator*(Term a, Term b) { return binary<arith::MulFOp, arith::MulIOp>(a, b); }
Term operator/(Term a, Term b) { return binary<arith::DivFOp, arith::DivSIOp>(a, b); }
Term operator&(Term a, Term b) { return a.make<arith::AndIOp>(a, b); }
Term operator|(Term a, Term b) { return a.make<arith::OrIOp>(a, b); }
Term operator^(Term a, Term b) { return a.make<arith::XOrIOp>(a, b); }

Term operator<(Term a, Term b) { return less(a, b, false); }
Term operator<=(Term a, Term b) { return less_equal(a, b, false); }
Term operator==(Term a, Term b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Term operator!=(Term a, Term b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}
Term less(Term a, Term b, bool is_unsigned) {
  return compare(a, b, arith::CmpFPredicate::OLT,
                 is_unsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt);
}
Term less_equal(Term a, Term b, bool is_unsigned) {
  return compare(a, b, arith::CmpFPredicate::OLE,
                 is_unsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle);
}
Term is_nan(Term x) { return x.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x); }

Term quotient(Term a, Term b) { return a.make<arith::DivUIOp>(a, b); }
Term remainder(Term a, Term b) { return a.make<arith::RemUIOp>(a, b); }
Term ceil_quotient(Term a, Term b) { return quotient(a + b - 1, b); }

Term select(Term condition, Term a, Term b) { return a.make<arith::SelectOp>(condition, a, b); }
Term min(Term a, Term b) {
  return a.is_float() ? select(b < a, b, a) : a.make<arith::MinSIOp>(a, b);
}
Term max(Term a, Term b) {
  return a.is_float() ? select(a < b, b, a) : a.make<arith::MaxSIOp>(a, b);
}
Term clamp(Term x, Term low, Term high) { return max(low, min(x, high)); }

Term floor(Term x) { return x.make<mlir::math::FloorOp>(x); }
Term ceil(Term x) { return x.make<mlir::math::CeilOp>(x); }

Term shift_left(Term a, int64_t bits) { return a.make<arith::ShLIOp>(a, a.integer(bits)); }
Term shift_right(Term a, int64_t bits) { return a.make<arith::ShRUIOp>(a, a.integer(bits)); }
Term shift_right_signed(Term a, int64_t bits) { return a.make<arith::ShRSIOp>(a, a.integer(bits)); }
Term bitcast(Term a, mlir::Type element) { return a.make<arith::BitcastOp>(a.like(element), a); }

Term convert(Term x, mlir::Type element) {
  const mlir::Type from = x.element(), type = x.like(element);
  const bool to_float = mlir::isa<mlir::FloatType>(element);
  if (from == element) return x;
  // MLIR converts index only to and from integers.
  if (x.is_float() ? element.isIndex() : from.isIndex() && to_float)
    return convert(convert(x, x.builder->getI64Type()), element);
  if (element.isIndex() || from.isIndex()) return x.make<arith::IndexCastOp>(type, x);
  if (x.is_float() != to_float)
    return to_float ? x.make<arith::SIToFPOp>(type, x) : x.make<arith::FPToSIOp>(type, x);
  bool widens = element.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
  if (to_float)
    return widens ? x.make<arith::ExtFOp>(type, x.value) : x.make<arith::TruncFOp>(type, x.value);
  return widens ? x.make<arith::ExtSIOp>(type, x) : x.make<arith::TruncIOp>(type, x);
}

}  // namespace scopevm::compiler::kernels
