// Work of ops, and bounds of loops.
#include "compiler/codegen/cpu/stop_checks/work.h"

#include <algorithm>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace scopevm::compiler::codegen {
namespace {

namespace arith = mlir::arith;

// An access to one element can be a cache miss. Vectors access adjacent elements.
constexpr int64_t kScalarAccess = 8, kVectorAccess = 2;
// Of an integer division and of a function of libm, for each lane.
constexpr int64_t kDivision = 8, kMathFunction = 16;
constexpr int64_t kRegisterBytes = 64;

struct Size {
  int64_t lanes = 1, registers = 1;
};

// The size of the largest vector among the operands and results.
Size size_of(mlir::Operation* op) {
  Size size;
  const auto add = [&](mlir::Type type) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    if (!vector) return;
    const mlir::Type element = vector.getElementType();
    const int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    const int64_t lanes = vector.getNumElements();
    size.lanes = std::max(size.lanes, lanes);
    size.registers =
        std::max(size.registers, (lanes * bits + 8 * kRegisterBytes - 1) / (8 * kRegisterBytes));
  };
  for (const mlir::Type type : op->getOperandTypes()) add(type);
  for (const mlir::Type type : op->getResultTypes()) add(type);
  return size;
}

std::optional<int64_t> constant(mlir::Value value) {
  llvm::APInt found;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&found))) return std::nullopt;
  return found.getSExtValue();
}

// Upper bounds of differences, by the forms that the kernel builder emits.
class Bounds {
 public:
  explicit Bounds(const Calls& calls) : calls_(calls) {}

  // An upper bound of high - low.
  std::optional<int64_t> difference(mlir::Value high, mlir::Value low) const {
    if (high == low) return 0;
    if (auto op = high.getDefiningOp<arith::MinSIOp>())
      return least(difference(op.getLhs(), low), difference(op.getRhs(), low));
    if (auto op = high.getDefiningOp<arith::AddIOp>()) {
      if (op.getLhs() == low) return most(op.getRhs());
      if (op.getRhs() == low) return most(op.getLhs());
    }
    if (const auto rest = rest_of(high, low)) return rest;
    if (auto op = high.getDefiningOp<arith::SubIOp>();
        op && op.getRhs().getDefiningOp<arith::RemUIOp>())
      return difference(op.getLhs(), low);
    const auto from = lowest(low), to = most(high);
    if (from && to) return *to - *from;
    return std::nullopt;
  }

 private:
  using Bound = std::optional<int64_t>;

  static Bound least(Bound a, Bound b) { return a && b ? std::min(*a, *b) : a ? a : b; }
  static Bound greatest(Bound a, Bound b) {
    return a && b ? Bound(std::max(*a, *b)) : std::nullopt;
  }

  // The bound if `low` is `high` rounded down to a multiple of a constant.
  static Bound rest_of(mlir::Value high, mlir::Value low) {
    if (auto product = low.getDefiningOp<arith::MulIOp>())
      if (auto quotient = product.getLhs().getDefiningOp<arith::DivUIOp>())
        if (const auto by = constant(product.getRhs());
            by && quotient.getLhs() == high && constant(quotient.getRhs()) == by)
          return *by - 1;
    if (auto difference = low.getDefiningOp<arith::SubIOp>())
      if (auto rest = difference.getRhs().getDefiningOp<arith::RemUIOp>())
        if (const auto by = constant(rest.getRhs());
            by && difference.getLhs() == high && rest.getLhs() == high)
          return *by - 1;
    return std::nullopt;
  }

  // An upper bound of the value.
  Bound most(mlir::Value value) const {
    if (const auto known = constant(value)) return known;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) return most(argument);
    if (auto op = value.getDefiningOp<arith::MinSIOp>())
      return least(most(op.getLhs()), most(op.getRhs()));
    if (auto op = value.getDefiningOp<arith::SubIOp>()) return difference(op.getLhs(), op.getRhs());
    if (auto op = value.getDefiningOp<arith::RemUIOp>()) {
      const auto by = constant(op.getRhs());
      return by ? Bound(*by - 1) : std::nullopt;
    }
    if (auto op = value.getDefiningOp<arith::SelectOp>())
      return greatest(most(op.getTrueValue()), most(op.getFalseValue()));
    if (auto op = value.getDefiningOp<arith::MaxSIOp>())
      return greatest(most(op.getLhs()), most(op.getRhs()));
    return std::nullopt;
  }

  // A lower bound of the value.
  Bound lowest(mlir::Value value) const {
    if (const auto known = constant(value)) return known;
    if (auto op = value.getDefiningOp<arith::MaxSIOp>()) {
      const Bound a = lowest(op.getLhs()), b = lowest(op.getRhs());
      return a && b ? Bound(std::max(*a, *b)) : a ? a : b;
    }
    if (auto op = value.getDefiningOp<arith::MinSIOp>()) {
      const Bound a = lowest(op.getLhs()), b = lowest(op.getRhs());
      return a && b ? Bound(std::min(*a, *b)) : std::nullopt;
    }
    // Indices are below 2^63.
    if (value.getDefiningOp<arith::DivUIOp>()) return 0;
    return std::nullopt;
  }

  // An argument of a private function has the values that all calls pass.
  Bound most(mlir::BlockArgument argument) const {
    auto function = mlir::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    const auto calls = function ? calls_.find(function) : calls_.end();
    if (calls == calls_.end()) return std::nullopt;
    int64_t all = INT64_MIN;
    for (mlir::func::CallOp call : calls->second) {
      const Bound one = most(call.getOperand(argument.getArgNumber()));
      if (!one) return std::nullopt;
      all = std::max(all, *one);
    }
    return all;
  }

  const Calls& calls_;
};

}  // namespace

int64_t work_of(mlir::Operation* op) {
  if (op->hasTrait<mlir::OpTrait::ConstantLike>() || op->hasTrait<mlir::OpTrait::IsTerminator>())
    return 0;
  const Size size = size_of(op);
  if (mlir::isa<mlir::vector::GatherOp, mlir::vector::ScatterOp>(op))
    return size.lanes * kScalarAccess;
  if (mlir::hasEffect<mlir::MemoryEffects::Read>(op) ||
      mlir::hasEffect<mlir::MemoryEffects::Write>(op))
    return size.lanes == 1 ? kScalarAccess : size.registers * kVectorAccess;
  if (mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return size.lanes * kDivision;
  if (mlir::isa<mlir::math::FmaOp, mlir::math::AbsFOp, mlir::math::FloorOp, mlir::math::CeilOp,
                mlir::math::RoundEvenOp, mlir::math::TruncOp, mlir::math::SqrtOp>(op))
    return size.registers * kVectorAccess;
  if (mlir::isa<mlir::math::MathDialect>(op->getDialect()) || mlir::isa<mlir::func::CallOp>(op))
    return size.lanes * kMathFunction;
  return size.registers;
}

std::optional<int64_t> most_iterations(mlir::scf::ForOp loop, const Calls& calls) {
  const auto step = constant(loop.getStep());
  const auto length = Bounds(calls).difference(loop.getUpperBound(), loop.getLowerBound());
  if (!step || !length) return std::nullopt;
  return *length <= 0 ? 0 : (*length - 1) / *step + 1;
}

}  // namespace scopevm::compiler::codegen
