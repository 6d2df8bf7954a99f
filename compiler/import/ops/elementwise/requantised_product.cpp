// QuantizeLinear of a product of dequantised operands. With the scale Y of the result, and bounds
// of Relu and Clip between them,
//
//   clamp(sums * S + bias) / Y = clamp'(sums * (S / Y) + bias / Y)
//
// where the quotients of constants are folded, so that no element is divided. Bounds that round to
// the ends of the result's type, to which the cast limits all numbers, are omitted.
#include <cmath>

#include "compiler/graph/values/constant_array.h"
#include "compiler/import/node/import_state.h"
#include "compiler/import/ops/elementwise/quantised.h"

namespace scopevm::compiler::frontend {

using namespace graph;  // NOLINT: formulas read better without the prefix

namespace {

std::optional<double> constant_number(Value value) {
  ConstantOp constant = value ? constant_source(value) : ConstantOp();
  if (!constant) return std::nullopt;
  const ConstantArray array(constant);
  if (array.count() != 1) return std::nullopt;
  return array.is_float() ? array.real(0) : static_cast<double>(array.integer(0));
}

// One op between the product and QuantizeLinear: a maximum or a minimum with a scalar.
struct Bound {
  bool is_least = false;
  Value value;  // null: 0
};

std::optional<Bound> bound_of(mlir::Operation* op) {
  if (mlir::isa_and_nonnull<ReluOp>(op)) return Bound{.is_least = true};
  if (!mlir::isa_and_nonnull<MaxOp, MinOp>(op)) return std::nullopt;
  const Value value = op->getOperand(1);
  if (!constant_number(value)) return std::nullopt;
  return Bound{mlir::isa<MaxOp>(op), value};
}

// Whether numbers beyond the bound, and the bound itself, become an end of the type `to`.
bool is_implied(const Bound& bound, Value scale, Value zero, DType to) {
  const std::optional<double> number = bound.value ? constant_number(bound.value) : 0.0;
  const std::optional<double> divisor = constant_number(scale);
  const std::optional<double> shift = zero ? constant_number(zero) : 0.0;
  if (!number || !divisor || !shift || !(*divisor > 0)) return false;
  const bool is_unsigned = to == DType::kU8;
  const double rounded = std::nearbyint(static_cast<float>(*number) / static_cast<float>(*divisor));
  return bound.is_least ? rounded + *shift <= (is_unsigned ? 0 : -128)
                        : rounded + *shift >= (is_unsigned ? 255 : 127);
}

}  // namespace

Value requantised_product(Node& n, Value x, Value scale, Value zero, DType to) {
  llvm::SmallVector<Bound> bounds;
  const ScaledSums* product = n.product_of(x);
  for (mlir::Operation* op = x.getDefiningOp(); !product; op = op->getOperand(0).getDefiningOp()) {
    const std::optional<Bound> bound = bound_of(op);
    if (!bound) return {};
    bounds.push_back(*bound);
    product = n.product_of(op->getOperand(0));
  }
  if ((to != DType::kU8 && to != DType::kI8) || n.rank(scale) != 0 ||
      n.dtype(scale) != DType::kF32 || (zero && n.rank(zero) != 0))
    return {};
  const auto divided = [&](Value value) { return n.emit<DivOp>({value, scale}); };
  const ScaledSums sums = *product;
  Value y = n.emit<MulOp>({n.cast(sums.sums, DType::kF32), divided(sums.scale)});
  if (sums.bias) y = n.emit<AddOp>({y, divided(sums.bias)});
  for (const Bound& bound : llvm::reverse(bounds)) {
    if (is_implied(bound, scale, zero, to)) continue;
    if (!bound.value)
      y = n.emit<ReluOp>({y});
    else
      y = bound.is_least ? n.emit<MaxOp>({y, divided(bound.value)})
                         : n.emit<MinOp>({y, divided(bound.value)});
  }
  return requantise(n, y, zero, to);
}

}  // namespace scopevm::compiler::frontend
