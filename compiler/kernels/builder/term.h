// Term: an SSA value of a kernel with C++ operators, so that a generator reads like its formulas.
// Operations with constant operands are folded when they are built.
//
// Both sides of an operator have one type: index, integer or float, scalar or rank-1 vector. A C++
// number takes the other side's type. Integers are signed unless a function says otherwise.
//
//     Term next = select(i + 1 < size, (i + 1) * stride, k.index(0));
#pragma once

#include <concepts>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace scopevm::compiler::kernels {

struct Term {
  mlir::OpBuilder* builder = nullptr;
  mlir::LocationAttr location;  // of the operations that are built from this term
  mlir::Value value;

  Term() = default;  // null term
  Term(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value)
      : builder(&builder), location(location), value(value) {}

  operator mlir::Value() const { return value; }  // NOLINT: implicit, for op builders
  explicit operator bool() const { return value != nullptr; }

  mlir::Type type() const { return value.getType(); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(value); }
  bool is_float() const { return mlir::isa<mlir::FloatType>(element()); }
  // The type with the same lanes and another element type.
  mlir::Type like(mlir::Type element) const;
  Term with(mlir::Value other) const { return Term(*builder, location, other); }
  // The result of an operation of type `Op`.
  template <typename Op, typename... Args>
  Term make(Args&&... args) const {
    return with(builder->createOrFold<Op>(location, std::forward<Args>(args)...));
  }

  // Constants of this term's type. An integer constant keeps the low bits of `value`.
  Term number(double value) const;
  Term integer(int64_t value) const;
  // Constants of another element type, with this term's lanes.
  Term number(mlir::Type element, double value) const;
  Term integer(mlir::Type element, int64_t value) const;
};
using Terms = llvm::SmallVector<Term, 6>;

llvm::SmallVector<mlir::Value> values_of(llvm::ArrayRef<Term> terms);

// A constant of a scalar or vector type. All lanes of a vector are `scalar`.
mlir::Value splat(mlir::OpBuilder& builder, mlir::Location location, mlir::Type type,
                  mlir::TypedAttr scalar);

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
// Signed integers round towards zero. For non-negative integers, see quotient.
Term operator/(Term a, Term b);
// Bitwise operators of integers and i1. Both operands are evaluated.
Term operator&(Term a, Term b);
Term operator|(Term a, Term b);
Term operator^(Term a, Term b);

// Comparisons return i1 lanes. Float comparisons are ordered, except that != is true for NaN.
Term operator<(Term a, Term b);
Term operator<=(Term a, Term b);
Term operator==(Term a, Term b);
Term operator!=(Term a, Term b);
// Comparisons of elements that can be unsigned.
Term less(Term a, Term b, bool is_unsigned = false);
Term less_equal(Term a, Term b, bool is_unsigned = false);
Term is_nan(Term x);

template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;
template <Number T>
Term number_like(Term like, T number) {
  if constexpr (std::integral<T>)
    if (!like.is_float()) return like.integer(static_cast<int64_t>(number));
  return like.number(static_cast<double>(number));
}

#define SCOPEVM_WITH_NUMBER(op)    \
  template <Number T>              \
  Term operator op(Term a, T b) {  \
    return a op number_like(a, b); \
  }                                \
  template <Number T>              \
  Term operator op(T a, Term b) {  \
    return number_like(b, a) op b; \
  }
SCOPEVM_WITH_NUMBER(+)
SCOPEVM_WITH_NUMBER(-)
SCOPEVM_WITH_NUMBER(*)
SCOPEVM_WITH_NUMBER(/)
SCOPEVM_WITH_NUMBER(<)
SCOPEVM_WITH_NUMBER(<=)
SCOPEVM_WITH_NUMBER(==)
SCOPEVM_WITH_NUMBER(!=)
#undef SCOPEVM_WITH_NUMBER

// Division of integers. REQUIRES: a is non-negative, and b is positive.
Term quotient(Term a, Term b);
Term remainder(Term a, Term b);
Term ceil_quotient(Term a, Term b);

// a where `condition` is true, else b. Both operands are evaluated.
Term select(Term condition, Term a, Term b);
// Integers compare as signed. If a float operand is NaN, the result is the first operand.
Term min(Term a, Term b);
Term max(Term a, Term b);
Term clamp(Term x, Term low, Term high);  // max(low, min(x, high))

Term floor(Term x);
Term ceil(Term x);

template <Number T>
Term quotient(Term a, T b) {
  return quotient(a, number_like(a, b));
}
template <Number T>
Term remainder(Term a, T b) {
  return remainder(a, number_like(a, b));
}
template <Number T>
Term min(Term a, T b) {
  return min(a, number_like(a, b));
}
template <Number T>
Term max(Term a, T b) {
  return max(a, number_like(a, b));
}

// Bits of integers.
Term shift_left(Term a, int64_t bits);
Term shift_right(Term a, int64_t bits);         // logical shift
Term shift_right_signed(Term a, int64_t bits);  // arithmetic shift
Term bitcast(Term a, mlir::Type element);

// Converts between index, signed integers and floats, scalar or vector. No effect for equal types.
Term convert(Term x, mlir::Type element);
inline Term to_i32(Term x) { return convert(x, x.builder->getI32Type()); }

}  // namespace scopevm::compiler::kernels
