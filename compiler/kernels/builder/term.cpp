// Operators on Term: see the header.
#include "compiler/kernels/builder/term.h"

#include "mlir/IR/BuiltinTypes.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;

template <typename Op, typename... Args>
Term make(Term like, Args... args) {
  return like.with(like.builder->create<Op>(like.location, args...));
}

template <typename FloatOp, typename IntOp>
Term binary(Term a, Term b) {
  if (a.is_float()) return make<FloatOp>(a, a.value, b.value);
  return make<IntOp>(a, a.value, b.value);
}

Term compare(Term a, Term b, arith::CmpFPredicate floats, arith::CmpIPredicate integers) {
  if (a.is_float()) return make<arith::CmpFOp>(a, floats, a.value, b.value);
  return make<arith::CmpIOp>(a, integers, a.value, b.value);
}

mlir::Type with_element(mlir::Type type, mlir::Type element) {
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type)) return vector.clone(element);
  return element;
}

}  // namespace

mlir::Type Term::like(mlir::Type element) const { return with_element(type(), element); }

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
  // Truncates: the low bits are what a narrow constant means.
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
Term operator/(Term a, Term b) { return make<arith::DivFOp>(a, a.value, b.value); }
Term operator&(Term a, Term b) { return make<arith::AndIOp>(a, a.value, b.value); }
Term operator|(Term a, Term b) { return make<arith::OrIOp>(a, a.value, b.value); }
Term operator^(Term a, Term b) { return make<arith::XOrIOp>(a, a.value, b.value); }

Term less(Term a, Term b, bool is_unsigned) {
  return compare(a, b, arith::CmpFPredicate::OLT,
                 is_unsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt);
}
Term less_equal(Term a, Term b, bool is_unsigned) {
  return compare(a, b, arith::CmpFPredicate::OLE,
                 is_unsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle);
}
Term equal(Term a, Term b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Term unequal(Term a, Term b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}
Term is_nan(Term x) { return make<arith::CmpFOp>(x, arith::CmpFPredicate::UNO, x.value, x.value); }
Term choose(Term condition, Term a, Term b) {
  return make<arith::SelectOp>(a, condition.value, a.value, b.value);
}

Term shift_left(Term a, int64_t bits) {
  return make<arith::ShLIOp>(a, a.value, a.integer(bits).value);
}
Term shift_right(Term a, int64_t bits) {
  return make<arith::ShRUIOp>(a, a.value, a.integer(bits).value);
}
Term shift_right_signed(Term a, int64_t bits) {
  return make<arith::ShRSIOp>(a, a.value, a.integer(bits).value);
}
Term bitcast(Term a, mlir::Type element) {
  return make<arith::BitcastOp>(a, a.like(element), a.value);
}

}  // namespace scopevm::compiler::kernels
