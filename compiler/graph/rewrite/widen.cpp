// Widens the graphs of models in f16 or bf16. CPUs multiply f32, so a matrix product, and what is
// computed around it, has f32 operands:
//
//   add(matmul(x, w), b)        cast(add(matmul(cast(x), cast(w)), cast(b)))
//
// The results of ops are then rounded to the narrow type only where they are stored: as inputs of
// ops that do not compute, as outputs, and by a Cast of the model.
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::graph {
namespace {

bool is_half(mlir::Type type) {
  const auto tensor = mlir::dyn_cast<TensorType>(type);
  return tensor && (tensor.getDtype() == DType::kF16 || tensor.getDtype() == DType::kBF16);
}

bool has_half_operand(mlir::Operation* op) { return llvm::any_of(op->getOperandTypes(), is_half); }

// Ops whose float results have the element type of their float operands.
bool computes(mlir::Operation* op) {
  return mlir::isa<ElementwiseOp, ReductionOp, RowOp, ContractionOp, WindowOp>(op) &&
         !mlir::isa<CastOp, BitCastOp>(op);
}

class Widening {
 public:
  explicit Widening(mlir::MLIRContext* context) : builder_(context) {}

  void widen(mlir::func::FuncOp function) {
    llvm::SmallVector<mlir::Operation*> ops;
    function.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (has_half_operand(op)) ops.push_back(op);
    });
    for (mlir::Operation* op : ops)
      if (computes(op) || selects_wide(op)) widen(op);
  }

 private:
  // Whether the op only moves elements of widened values and constants.
  bool selects_wide(mlir::Operation* op) const {
    if (!mlir::isa<SelectingOp>(op)) return false;
    bool has_wide = false;
    for (mlir::Value operand : op->getOperands()) {
      if (!is_half(operand.getType())) continue;
      const bool is_wide = wide_.contains(operand);
      if (!is_wide && !operand.getDefiningOp<ConstantOp>()) return false;
      has_wide |= is_wide;
    }
    return has_wide;
  }

  mlir::Value cast(mlir::Value x, DType to) {
    const std::string_view text = name(to);
    return builder_.create<CastOp>(x.getLoc(), mlir::cast<TensorType>(x.getType()).withDType(to), x,
                                   llvm::StringRef(text.data(), text.size()));
  }

  // The value as f32. Products read a transposed operand in place, so that the cast is before the
  // transposition.
  mlir::Value wide(mlir::Value value) {
    if (auto found = wide_.find(value); found != wide_.end()) return found->second;
    mlir::Operation* op = value.getDefiningOp();
    mlir::Value result;
    if (mlir::isa_and_nonnull<TransposeOp, ReshapeOp, ExpandOp>(op)) {
      const mlir::Value x = wide(op->getOperand(0));
      builder_.setInsertionPointAfter(op);
      mlir::Operation* moved = builder_.clone(*op);
      moved->setOperand(0, x);
      result = moved->getResult(0);
      result.setType(mlir::cast<TensorType>(value.getType()).withDType(DType::kF32));
    } else {
      builder_.setInsertionPointAfterValue(value);
      result = cast(value, DType::kF32);
    }
    wide_[value] = result;
    return result;
  }

  void widen(mlir::Operation* op) {
    llvm::SmallVector<mlir::Value> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(is_half(operand.getType()) ? wide(operand) : operand);
    builder_.setInsertionPoint(op);
    mlir::Operation* widened = builder_.clone(*op);
    widened->setOperands(operands);
    for (auto [narrow, result] : llvm::zip(op->getResults(), widened->getResults())) {
      if (!is_half(narrow.getType())) {
        narrow.replaceAllUsesWith(result);
        continue;
      }
      const auto type = mlir::cast<TensorType>(narrow.getType());
      result.setType(type.withDType(DType::kF32));
      const mlir::Value rounded = cast(result, type.getDtype());
      narrow.replaceAllUsesWith(rounded);
      wide_[rounded] = result;
    }
    op->erase();
  }

  mlir::OpBuilder builder_;
  llvm::DenseMap<mlir::Value, mlir::Value> wide_;  // f32 values by the values that are rounded
};

}  // namespace

void widen_halves(mlir::ModuleOp module) {
  bool has_products = false;
  module.walk([&](ContractionOp op) { has_products |= has_half_operand(op); });
  if (!has_products) return;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    Widening(module.getContext()).widen(function);
}

}  // namespace scopevm::compiler::graph
