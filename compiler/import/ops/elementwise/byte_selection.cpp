// The result is exact. QuantizeLinear does not decrease, so that it commutes with the ops. For a
// byte b and the same scale and zero point, it maps (b - zero) * scale to b: the product and the
// quotient have a relative error of at most 2^-24 each, and |b - zero| is at most 255.
#include "compiler/import/ops/elementwise/byte_selection.h"

#include <cfloat>
#include <cmath>

#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/constant_array.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The constant scalar `value`; 0 for a null value.
std::optional<double> scalar_constant(Value value) {
  if (!value) return 0;
  ConstantOp constant = constant_source(value);
  if (!constant || tensor_type(value).getRank() != 0) return std::nullopt;
  const ConstantArray array(constant);
  return array.is_float() ? array.real(0) : static_cast<double>(array.integer(0));
}

bool is_finite(ConstantOp constant) {
  const ConstantArray array(constant);
  for (int64_t i = 0; i < array.count(); ++i)
    if (!std::isfinite(array.real(i))) return false;
  return true;
}

class ByteSelection {
 public:
  ByteSelection(Node& n, Value scale, Value zero, DType to)
      : n_(n), scale_(scale), zero_(zero), to_(to) {}

  Value of(Value x) {
    const std::optional<double> scale = scalar_constant(scale_), zero = scalar_constant(zero_);
    // No product of a byte and the scale is subnormal or infinite.
    if (!scale || !zero || *scale < FLT_MIN || *scale > FLT_MAX / 256) return {};
    if (n_.dtype(scale_) != DType::kF32 || n_.dtype(x) != DType::kF32) return {};
    known_scale_ = *scale;
    known_zero_ = *zero;
    return is_selection(x) && has_bytes_ ? bytes_of(x) : Value();
  }

 private:
  // The bytes of a tensor that was dequantised with the same scale and zero point, else null.
  Value dequantised_bytes(Value x) {
    const std::optional<Dequantised> found = dequantised(x);
    const bool is_same = found && n_.dtype(found->values) == to_ &&
                         scalar_constant(found->scale) == known_scale_ &&
                         scalar_constant(found->zero) == known_zero_;
    return is_same ? found->values : Value();
  }

  // Whether bytes_of() supports x.
  bool is_selection(Value x) {
    constexpr size_t kMostOps = 64;
    if (dequantised_bytes(x)) return has_bytes_ = true;
    mlir::Operation* op = x.getDefiningOp();
    if (auto constant = llvm::dyn_cast_if_present<ConstantOp>(op)) return is_finite(constant);
    // An op outside of a loop would be computed again in each iteration.
    if (!op || op->getBlock() != n_.builder().getInsertionBlock()) return false;
    if (visited_.contains(op)) return true;  // else the search has ended
    if (visited_.size() == kMostOps) return false;
    visited_.insert(op);
    if (auto relu = mlir::dyn_cast<ReluOp>(op)) return is_selection(relu.getX());
    auto selecting = mlir::dyn_cast<SelectingOp>(op);
    return selecting && selecting.selectsElements() && op->getNumResults() == 1 &&
           llvm::all_of(op->getOperands(),
                        [&](Value y) { return n_.dtype(y) != DType::kF32 || is_selection(y); });
  }

  Value bytes_of(Value x) {
    if (n_.dtype(x) != DType::kF32) return x;
    if (Value bytes = bytes_.lookup(x)) return bytes;
    const Value bytes = make_bytes(x);
    bytes_[x] = bytes;
    return bytes;
  }

  Value make_bytes(Value x) {
    if (Value bytes = dequantised_bytes(x)) return bytes;
    mlir::Operation* op = x.getDefiningOp();
    if (mlir::isa<ConstantOp>(op)) return quantise(n_, x, scale_, zero_, to_);
    if (auto relu = mlir::dyn_cast<ReluOp>(op)) return maximum_with_zero(relu);
    mlir::IRMapping mapping;
    for (Value operand : op->getOperands()) mapping.map(operand, bytes_of(operand));
    // The location remains that of the node that made the op, for messages and placement rules.
    Value result = n_.builder().clone(*op, mapping)->getResult(0);
    result.setType(tensor_type(x).withDType(to_));
    return result;
  }

  Value maximum_with_zero(ReluOp relu) {
    const Value x = bytes_of(relu.getX());
    const mlir::Location own = n_.builder().getLoc();
    n_.builder().setLoc(relu.getLoc());
    const Value result = n_.emit<MaxOp>({x, zero_ ? zero_ : n_.scalar(0, to_)});
    n_.builder().setLoc(own);
    return result;
  }

  Node& n_;
  Value scale_, zero_;
  DType to_;
  double known_scale_ = 0, known_zero_ = 0;
  bool has_bytes_ = false;  // of a dequantised tensor
  llvm::DenseSet<mlir::Operation*> visited_;
  llvm::DenseMap<Value, Value> bytes_;
};

}  // namespace

Value select_bytes(Node& n, Value x, Value scale, Value zero, DType to) {
  if (n.has_failed() || byte_size(to) != 1) return {};
  return ByteSelection(n, scale, zero, to).of(x);
}

}  // namespace scopevm::compiler::frontend
