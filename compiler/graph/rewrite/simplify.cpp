// Simplifies the graph: removes unused functions, folds constants, replaces known shape arithmetic
// by constants or sv.dims_tensor, applies canonicalization patterns, and removes dead ops.
//   values/fold.h        evaluates ops on constants
//   rewrites.cpp         canonicalization patterns
#include <memory>

#include "compiler/graph/rewrite/loop_body.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/rewrite/rewrites.h"
#include "compiler/graph/values/constant_array.h"
#include "compiler/graph/values/symbolic_values.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace scopevm::compiler::graph {
namespace {

// Rewrites enable each other; real graphs reach a fixed point within a few rounds.
constexpr int kMaxRounds = 4;

// Ops outside of groups, in program order; an op precedes the ops of its regions.
llvm::SmallVector<mlir::Operation*> all_ops(mlir::func::FuncOp function) {
  llvm::SmallVector<mlir::Operation*> ops;
  function.getBody().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    ops.push_back(op);
    return mlir::isa<GroupOp>(op) ? mlir::WalkResult::skip() : mlir::WalkResult::advance();
  });
  return ops;
}

void materialise_known_values(mlir::func::FuncOp function) {
  // A result of shape arithmetic (Shape, Gather, Mul, Concat, ...) is replaced by one constant or
  // one sv.dims_tensor. Its producers are then dead.
  SymbolicValues symbols;
  mlir::OpBuilder builder(function.getContext());
  for (mlir::Operation* op : all_ops(function)) {
    if (op->getNumResults() != 1 || mlir::isa<ConstantOp>(op) || is_constrained(op)) continue;
    mlir::Value result = op->getResult(0);
    const std::vector<DimExpr>* elements = symbols.find(result);
    if (!elements) continue;
    // A dims_tensor has this form unless all dims are constant.
    if (mlir::isa<DimsTensorOp>(op) &&
        !llvm::all_of(*elements, [](DimExpr dim) { return dim.is_constant(); }))
      continue;
    builder.setInsertionPointAfter(op);
    mlir::Value known =
        materialise(builder, op->getLoc(), mlir::cast<TensorType>(result.getType()), *elements);
    if (known) result.replaceAllUsesWith(known);
  }
}

// The canonicalization patterns of all graph ops.
mlir::FrozenRewritePatternSet canonicalization_patterns(mlir::MLIRContext* context) {
  mlir::RewritePatternSet patterns(context);
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getDialectNamespace() == GraphDialect::getDialectNamespace())
      op.getCanonicalizationPatterns(patterns, context);
  // Not a canonical form: it bounds the size of kernels.
  add_rewrites<ConcatOp, split_concat>(patterns);
  return std::move(patterns);
}

std::unique_ptr<mlir::PatternApplicator> make_applicator(
    const mlir::FrozenRewritePatternSet& patterns) {
  // After an exception it is not destroyed: a DenseMap whose allocation failed has no buckets, but
  // its destructor reads them.
  auto* const applicator = new mlir::PatternApplicator(patterns);
  applicator->applyDefaultCostModel();
  return std::unique_ptr<mlir::PatternApplicator>(applicator);
}

// Folds each op or applies one canonicalization pattern to it, in program order. MLIR's greedy
// driver is not used, because it also moves and merges constants, whose locations have the model's
// names.
class Canonicalizer {
 public:
  explicit Canonicalizer(mlir::MLIRContext* context)
      : patterns_(canonicalization_patterns(context)),
        applicator_(make_applicator(patterns_)),
        rewriter_(context) {}

  // Returns true if anything changed.
  bool run_once(mlir::func::FuncOp function) {
    bool changed = false;
    for (mlir::Operation* op : all_ops(function)) {
      // The list of ops stays valid, because a pattern erases only its root. remove_unused() later
      // erases dead producers. Terminators and checks have no uses either.
      if (op->use_empty() || op->getNumRegions() > 0 || mlir::isa<ConstantOp>(op)) continue;
      rewriter_.setInsertionPoint(op);
      changed |= fold(op) || succeeded(applicator_->matchAndRewrite(op, rewriter_));
    }
    return changed;
  }

 private:
  // Replaces a foldable op by a constant. Returns true if it did.
  bool fold(mlir::Operation* op) {
    llvm::SmallVector<mlir::OpFoldResult, 1> results;
    if (op->getNumResults() != 1 || !may_fold(op) || failed(op->fold(results)) || results.empty())
      return false;
    auto value = mlir::dyn_cast<mlir::Attribute>(results.front());
    if (!value) return false;
    rewriter_.replaceOpWithNewOp<ConstantOp>(op, op->getResult(0).getType(),
                                             mlir::cast<mlir::ElementsAttr>(value));
    return true;
  }

  // False if folding would lose a constraint of the op or of a constant that it reads.
  static bool may_fold(mlir::Operation* op) {
    return !is_constrained(op) && llvm::none_of(op->getOperands(), [](mlir::Value operand) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      return constant && is_constrained(constant);
    });
  }

  mlir::FrozenRewritePatternSet patterns_;
  std::unique_ptr<mlir::PatternApplicator> applicator_;
  mlir::PatternRewriter rewriter_;
};

// Replaces each sv.if with a constant condition by the ops of the branch that runs. An sv.if that
// defines symbols stays, because its results have other types than the values of the branch.
// Returns true if anything changed.
bool decide_branches(mlir::func::FuncOp function) {
  bool changed = false;
  // Post-order: a nested sv.if is replaced before the sv.if that contains it.
  function.walk([&](IfOp branch) {
    auto condition = branch.getCondition().getDefiningOp<ConstantOp>();
    if (!condition || is_constrained(condition) || is_constrained(branch)) return;
    const bool is_true = ConstantArray(condition).integer(0) != 0;
    mlir::Block& taken = (is_true ? branch.getThen() : branch.getOtherwise()).front();
    mlir::Operation* yield = taken.getTerminator();
    if (yield->getOperandTypes() != branch->getResultTypes()) return;
    branch->getBlock()->getOperations().splice(branch->getIterator(), taken.getOperations(),
                                               taken.begin(), yield->getIterator());
    branch->replaceAllUsesWith(yield->getOperands());
    branch->erase();
    changed = true;
  });
  return changed;
}

// Whether all users of the op's results are annotations without readers. Such an annotation
// constrains its value as long as the value has another reader.
bool is_unused(mlir::Operation* op) {
  return llvm::all_of(op->getUsers(), [](mlir::Operation* user) {
    return mlir::isa<OnDeviceOp>(user) && is_unused(user);
  });
}

// Whether an op outside of `op` uses a symbol that the results of `op` define. The values can be
// unused: their shape is an sv.dims_tensor of the symbols.
bool has_used_symbols(mlir::Operation* op, mlir::func::FuncOp function) {
  const std::set<std::string> symbols = result_symbols(op);
  if (symbols.empty()) return false;
  const auto walked = function.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* user) {
    if (user == op) return mlir::WalkResult::skip();
    return mentions(user, symbols) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return walked.wasInterrupted();
}

// Whether the op has no effect except for its results.
bool is_removable(mlir::Operation* op, mlir::func::FuncOp function) {
  if (!mlir::isa<IfOp, LoopOp>(op)) return mlir::isPure(op);
  return mlir::isMemoryEffectFree(op) && !has_used_symbols(op, function);
}

// REQUIRES: is_unused(op).
void erase_with_annotations(mlir::Operation* op) {
  for (mlir::Operation* user : llvm::make_early_inc_range(op->getUsers()))
    erase_with_annotations(user);
  op->erase();
}

}  // namespace

void remove_unused(mlir::func::FuncOp function) {
  const llvm::SmallVector<mlir::Operation*> ops = all_ops(function);
  // In reverse order, users precede the producers of their operands, so one pass removes whole dead
  // chains.
  for (mlir::Operation* op : llvm::reverse(ops)) {
    // An annotation is erased with the op that makes its value.
    if (is_unused(op) && !mlir::isa<OnDeviceOp>(op) &&
        !op->hasTrait<mlir::OpTrait::IsTerminator>() && is_removable(op, function))
      erase_with_annotations(op);
  }
}

namespace {

void simplify(mlir::func::FuncOp function, Canonicalizer& canonicalizer) {
  materialise_known_values(function);
  remove_unused(function);
  for (int round = 0; round < kMaxRounds; ++round) {
    const bool changed = canonicalizer.run_once(function);
    if (!decide_branches(function) && !changed) break;
    remove_unused(function);
  }
}

}  // namespace

void simplify(mlir::func::FuncOp function) {
  Canonicalizer canonicalizer(function.getContext());
  simplify(function, canonicalizer);
}

llvm::LogicalResult simplify(mlir::ModuleOp module) {
  remove_unused_functions(module);
  Canonicalizer canonicalizer(module.getContext());
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal() && function.getBody().hasOneBlock())
      simplify(function, canonicalizer);
  return mlir::success();
}

}  // namespace scopevm::compiler::graph
