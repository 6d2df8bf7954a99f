// Term: an SSA value with C++ operators, so that arithmetic in generators reads as formulas.
// Operands are scalars or rank-1 vectors of one type; numbers take the other operand's type.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace scopevm::compiler::kernels {

struct Term {
  mlir::OpBuilder* builder;
  mlir::Location location;
  mlir::Value value;

  Term(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value)
      : builder(&builder), location(location), value(value) {}
  Term& operator=(const Term& other) {
    builder = other.builder;
    value = other.value;
    return *this;
  }
  Term(const Term&) = default;

  mlir::Type type() const { return value.getType(); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(value); }
  bool is_float() const { return mlir::isa<mlir::FloatType>(element()); }
  // The same lanes of another element type.
  mlir::Type like(mlir::Type element) const;
  Term with(mlir::Value other) const { return Term(*builder, location, other); }

  // Constants of this term's type.
  Term number(double value) const;
  Term integer(int64_t value) const;
  // Constants of this term's lanes.
  Term number(mlir::Type element, double value) const;
  Term integer(mlir::Type element, int64_t value) const;
};

// A constant of a scalar or vector type, every lane equal.
mlir::Value splat(mlir::OpBuilder& builder, mlir::Location location, mlir::Type type,
                  mlir::TypedAttr scalar);

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);  // floats only
Term operator&(Term a, Term b);
Term operator|(Term a, Term b);
Term operator^(Term a, Term b);
inline Term operator+(Term a, double b) { return a + a.number(b); }
inline Term operator-(Term a, double b) { return a - a.number(b); }
inline Term operator*(Term a, double b) { return a * a.number(b); }
inline Term operator-(double a, Term b) { return b.number(a) - b; }
inline Term operator/(double a, Term b) { return b.number(a) / b; }

// Comparisons give i1 lanes. Floats: ordered, but `unequal` is true for NaN. Integers: signed
// unless `is_unsigned`.
Term less(Term a, Term b, bool is_unsigned = false);
Term less_equal(Term a, Term b, bool is_unsigned = false);
Term equal(Term a, Term b);
Term unequal(Term a, Term b);
Term is_nan(Term x);
Term choose(Term condition, Term a, Term b);
inline Term less(Term a, double b) { return less(a, a.number(b)); }

// Bits of integers.
Term shift_left(Term a, int64_t bits);
Term shift_right(Term a, int64_t bits);         // zeros come in
Term shift_right_signed(Term a, int64_t bits);  // copies of the sign come in
Term bitcast(Term a, mlir::Type element);

}  // namespace scopevm::compiler::kernels
