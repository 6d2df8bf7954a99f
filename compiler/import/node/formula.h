// Formulas: arithmetic on a node's values with operators, for handlers that decompose an op.
//
//   Formula angle = iota(n, size, DType::kF32) * (2 * kPi) / number(n, period, DType::kF32);
//   return cos(angle) * 0.5 + 0.5;
//
// Operands broadcast and must have the same element type. A C++ number gets the element type of the
// other operand. After an error, every formula is null.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

class Formula {
 public:
  Formula(Node& n, Value value) : node_(&n), value_(value) {}
  operator Value() const { return value_; }   // NOLINT: handlers pass formulas as values
  operator Values() const { return value_; }  // NOLINT: and return them
  Node& node() const { return *node_; }
  DType dtype() const { return node_->dtype(value_); }
  int64_t rank() const { return node_->rank(value_); }
  llvm::ArrayRef<DimExpr> shape() const { return node_->shape(value_); }

  template <typename Op>
  Formula unary() const {
    return {*node_, node_->emit<Op>({value_})};
  }
  template <typename Op>
  Formula binary(Value other) const {
    return {*node_, node_->emit<Op>({value_, other})};
  }
  Formula scalar(double number) const { return {*node_, node_->scalar(number, value_)}; }

  Formula as(DType to) const { return {*node_, node_->cast(value_, to)}; }
  Formula reshape(const Dims& dims) const { return {*node_, node_->reshape(value_, dims)}; }
  Formula transpose(const Ints& permutation) const {
    return {*node_, node_->transpose(value_, permutation)};
  }
  Formula unsqueeze(const Ints& axes) const { return {*node_, node_->unsqueeze(value_, axes)}; }
  Formula expand(const Dims& dims) const { return {*node_, node_->expand(value_, dims)}; }
  // The slice at `index` along the axis. The axis is removed, or kept with size 1 if keep_axis.
  Formula element_at(int64_t axis, DimExpr index, bool keep_axis = false) const;
  // The elements in reverse order along the axis.
  Formula reversed(int64_t axis) const;
  // Gathers along the axis; the indices may have any rank.
  Formula gather(Value indices, int64_t axis) const;
  Formula move_axis(int64_t from, int64_t to) const {
    return {*node_, node_->move_axis(value_, from, to)};
  }

 private:
  Node* node_;
  Value value_;
};

#define SCOPEVM_FORMULA_OPERATOR(symbol, Op)                           \
  inline Formula operator symbol(const Formula& a, const Formula& b) { \
    return a.binary<graph::Op>(b);                                     \
  }                                                                    \
  inline Formula operator symbol(const Formula& a, double b) {         \
    return a.binary<graph::Op>(a.scalar(b));                           \
  }                                                                    \
  inline Formula operator symbol(double a, const Formula& b) {         \
    return b.scalar(a).binary<graph::Op>(b);                           \
  }
SCOPEVM_FORMULA_OPERATOR(+, AddOp)
SCOPEVM_FORMULA_OPERATOR(-, SubOp)
SCOPEVM_FORMULA_OPERATOR(*, MulOp)
SCOPEVM_FORMULA_OPERATOR(/, DivOp)
SCOPEVM_FORMULA_OPERATOR(%, ModOp)
SCOPEVM_FORMULA_OPERATOR(<, LessOp)
SCOPEVM_FORMULA_OPERATOR(>, GreaterOp)
SCOPEVM_FORMULA_OPERATOR(<=, LessEqualOp)
SCOPEVM_FORMULA_OPERATOR(==, EqualOp)
#undef SCOPEVM_FORMULA_OPERATOR
inline Formula operator&(const Formula& a, const Formula& b) { return a.binary<graph::AndOp>(b); }

inline Formula floor(const Formula& x) { return x.unary<graph::FloorOp>(); }
inline Formula ceil(const Formula& x) { return x.unary<graph::CeilOp>(); }
inline Formula round_to_even(const Formula& x) { return x.unary<graph::RoundOp>(); }
inline Formula abs(const Formula& x) { return x.unary<graph::AbsOp>(); }
inline Formula sqrt(const Formula& x) { return x.unary<graph::SqrtOp>(); }
inline Formula exp(const Formula& x) { return x.unary<graph::ExpOp>(); }
inline Formula log(const Formula& x) { return x.unary<graph::LogOp>(); }
inline Formula sin(const Formula& x) { return x.unary<graph::SinOp>(); }
inline Formula cos(const Formula& x) { return x.unary<graph::CosOp>(); }
inline Formula tanh(const Formula& x) { return x.unary<graph::TanhOp>(); }
inline Formula erf(const Formula& x) { return x.unary<graph::ErfOp>(); }
inline Formula min(const Formula& a, const Formula& b) { return a.binary<graph::MinOp>(b); }
inline Formula max(const Formula& a, const Formula& b) { return a.binary<graph::MaxOp>(b); }
inline Formula min(const Formula& a, double b) { return min(a, a.scalar(b)); }
inline Formula max(const Formula& a, double b) { return max(a, a.scalar(b)); }
inline Formula clamp(const Formula& x, double low, const Formula& high) {
  return max(min(x, high), low);
}
inline Formula select(const Formula& condition, const Formula& a, const Formula& b) {
  return {condition.node(), condition.node().emit<graph::SelectOp>({condition, a, b})};
}
inline Formula select(const Formula& condition, const Formula& a, double b) {
  return select(condition, a, a.scalar(b));
}

// [start, start + step, ...], with `size` elements
Formula iota(Node& n, DimExpr size, DType dtype, int64_t start = 0, int64_t step = 1);
// A dim as a scalar tensor.
Formula number(Node& n, DimExpr dim, DType dtype);
// Concatenates the values along a new axis. REQUIRES: at least one value.
Formula stack(llvm::ArrayRef<Formula> parts, int64_t axis);
// The weight of the cubic convolution kernel (R. Keys, 1981) at `distance` >= 0 with coefficient
// `a`.
Formula cubic_weight(const Formula& distance, double a);

}  // namespace scopevm::compiler::frontend
