// Kernel arithmetic as C++ expressions: a Val is an SSA value with operators, so that a generator
// reads like the loop that it emits. Constants fold while the kernel is built.
//
// Both sides of an operator have one type: index, integer or float, scalar or vector. Integers are
// signed unless a function says otherwise. A C++ number becomes a constant of the other side's
// type.
#pragma once

#include <concepts>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace scopevm::compiler::kernels::movement {

class Val {
 public:
  Val() = default;
  Val(mlir::ImplicitLocOpBuilder* builder, mlir::Value value) : builder_(builder), value_(value) {}

  operator mlir::Value() const { return value_; }  // NOLINT: ops are created from Vals
  mlir::Type type() const { return value_.getType(); }
  mlir::ImplicitLocOpBuilder& builder() const { return *builder_; }
  explicit operator bool() const { return value_ != nullptr; }

  // `number` in this value's type, splat when it is a vector.
  Val literal(double number) const;
  Val literal(int64_t number) const;

 private:
  mlir::ImplicitLocOpBuilder* builder_ = nullptr;
  mlir::Value value_;
};
using Vals = llvm::SmallVector<Val, 6>;

template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;
template <Number T>
Val literal(Val like, T number) {
  if constexpr (std::integral<T>) return like.literal(static_cast<int64_t>(number));
  return like.literal(static_cast<double>(number));
}

Val operator+(Val a, Val b);
Val operator-(Val a, Val b);
Val operator*(Val a, Val b);
Val operator/(Val a, Val b);   // floats, or integers towards zero
Val operator&&(Val a, Val b);  // of i1; both sides are computed
// Comparisons give i1. Floats compare ordered: false for NaN.
Val operator<(Val a, Val b);
Val operator<=(Val a, Val b);
Val operator==(Val a, Val b);

#define SCOPEVM_WITH_NUMBER(op) \
  template <Number T>           \
  Val operator op(Val a, T b) { \
    return a op literal(a, b);  \
  }                             \
  template <Number T>           \
  Val operator op(T a, Val b) { \
    return literal(b, a) op b;  \
  }
SCOPEVM_WITH_NUMBER(+)
SCOPEVM_WITH_NUMBER(-)
SCOPEVM_WITH_NUMBER(*)
SCOPEVM_WITH_NUMBER(/)
SCOPEVM_WITH_NUMBER(<)
SCOPEVM_WITH_NUMBER(<=)
SCOPEVM_WITH_NUMBER(==)
#undef SCOPEVM_WITH_NUMBER

// Order of elements of a dtype that may be unsigned.
Val less(Val a, Val b, bool is_unsigned);

// Of values that are not negative; the divisor is above 0.
Val quotient(Val a, Val b);
Val remainder(Val a, Val b);
Val ceil_quotient(Val a, Val b);

Val select(Val condition, Val a, Val b);
Val min(Val a, Val b);
Val max(Val a, Val b);
Val clamp(Val x, Val low, Val high);  // max(low, min(x, high))

Val floor(Val x);
Val ceil(Val x);

// Between index, integers (signed) and floats; the same type is no change.
Val convert(Val x, mlir::Type type);

}  // namespace scopevm::compiler::kernels::movement
