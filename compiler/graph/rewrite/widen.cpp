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
#include "llvm/ADT/DenseSet.h"
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
  // Whether the op only moves elements of rounded results, and of constants. A cache that is
  // concatenated with results keeps its type.
  bool selects_wide(mlir::Operation* op) const {
    auto selecting = mlir::dyn_cast<SelectingOp>(op);
    if (!selecting || !selecting.selectsElements()) return false;
    bool has_rounded = false;
    for (mlir::Value operand : op->getOperands()) {
      if (!is_half(operand.getType())) continue;
      const bool is_rounded = rounded_.contains(operand);
      if (!is_rounded && !operand.getDefiningOp<ConstantOp>()) return false;
      has_rounded |= is_rounded;
    }
    return has_rounded;
  }

  mlir::Value cast(mlir::Value x, DType to) {
    const std::string_view text = name(to);
    return builder_.create<CastOp>(x.getLoc(), mlir::cast<TensorType>(x.getType()).withDType(to), x,
                                   llvm::StringRef(text.data(), text.size()));
  }

  // The value as f32. Products read a transposed operand in place, so that the cast is before the
  // transposition.
  mlir::Value wide(mlir::Value value) {
    llvm::SmallVector<mlir::Operation*> moves;  // from the value back to what is cast
    for (mlir::Operation* op = nullptr; !wide_.contains(value) && (op = value.getDefiningOp()) &&
                                        mlir::isa<TransposeOp, ReshapeOp, ExpandOp>(op);
         value = op->getOperand(0))
      moves.push_back(op);
    mlir::Value& known = wide_[value];
    if (!known) {
      builder_.setInsertionPointAfterValue(value);
      known = cast(value, DType::kF32);
    }
    mlir::Value result = known;
    for (mlir::Operation* op : llvm::reverse(moves)) {
      builder_.setInsertionPointAfter(op);
      mlir::Operation* moved = builder_.clone(*op);
      moved->setOperand(0, result);
      const mlir::Value narrow = op->getResult(0);
      result = moved->getResult(0);
      result.setType(mlir::cast<TensorType>(narrow.getType()).withDType(DType::kF32));
      wide_[narrow] = result;
    }
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
      rounded_.insert(rounded);
    }
    op->erase();
  }

  mlir::OpBuilder builder_;
  llvm::DenseMap<mlir::Value, mlir::Value> wide_;  // f32 values by f16 and bf16 values
  llvm::DenseSet<mlir::Value> rounded_;            // f16 and bf16 values that are rounded results
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
