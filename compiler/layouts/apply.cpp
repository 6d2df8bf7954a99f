// Rewrites the chosen ops in program order. A value has its blocked form from the op that computes
// it, or from a conversion directly after its definition, which all users share.
#include "compiler/layouts/apply.h"

#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/layouts/models/layout_ops.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

class Rewriter {
 public:
  Rewriter(mlir::func::FuncOp function, ConversionSeconds seconds, Report& report)
      : builder_(function), seconds_(seconds), report_(report) {}

  void rewrite(Candidate candidate) {
    const BlockedForm& form = candidate.form;
    mlir::IRMapping operands;
    for (mlir::Value image : form.images)
      if (!operands.contains(image))
        operands.map(image,
                     form.reads_plain && !blocked_.contains(image) ? image : blocked_form(image));
    builder_.setInsertionPoint(candidate.op);
    const mlir::Value result = candidate.op.createBlocked(builder_, form, operands);
    (form.has_blocked_result ? blocked_ : plain_)[candidate.op->getResult(0)] = result;
    replaced_.push_back(candidate.op);
  }

  // Replaces the results that ops by channel still use, and erases the replaced ops.
  void finish() {
    const llvm::SmallPtrSet<mlir::Operation*, 16> replaced(replaced_.begin(), replaced_.end());
    for (mlir::Operation* op : replaced_) {
      mlir::Value result = op->getResult(0);
      if (llvm::all_of(result.getUsers(), [&](auto* user) { return replaced.contains(user); }))
        continue;
      mlir::Value plain = plain_.lookup(result);
      if (!plain) {
        const mlir::Value blocked = blocked_.lookup(result);
        builder_.setInsertionPointAfterValue(blocked);
        plain = to_plain(builder_, blocked, type_of(result));
        add_conversion(result, /*is_to_blocked=*/false);
      }
      result.replaceUsesWithIf(
          plain, [&](mlir::OpOperand& use) { return !replaced.contains(use.getOwner()); });
    }
    for (mlir::Operation* op : llvm::reverse(replaced_)) op->erase();
  }

 private:
  void add_conversion(mlir::Value value, bool is_to_blocked) {
    const TensorType type = type_of(value);
    report_.conversions.push_back(
        {.value = graph::DimTrace::name(value),
         .to_blocked = is_to_blocked,
         .bytes =
             type.getElementCount() * DimExpr(static_cast<int64_t>(byte_size(type.getDtype()))),
         .seconds = seconds_(type)});
  }

  // The blocked form of an image, converted directly after its definition.
  mlir::Value blocked_form(mlir::Value image) {
    mlir::Value& form = blocked_[image];
    if (!form) {
      builder_.setInsertionPointAfterValue(image);
      form = to_blocked(builder_, image);
      add_conversion(image, /*is_to_blocked=*/true);
    }
    return form;
  }

  mlir::OpBuilder builder_;
  ConversionSeconds seconds_;
  Report& report_;
  llvm::DenseMap<mlir::Value, mlir::Value> blocked_;  // the blocked form of values by channel
  llvm::DenseMap<mlir::Value, mlir::Value> plain_;    // replacements of results that are not images
  llvm::SmallVector<mlir::Operation*> replaced_;
};

}  // namespace

void apply(mlir::func::FuncOp function, const std::vector<Candidate>& ops,
           ConversionSeconds seconds, Report& report) {
  Rewriter rewriter(function, seconds, report);
  for (const Candidate& candidate : ops) rewriter.rewrite(candidate);
  rewriter.finish();
  graph::remove_unused(function);
}

}  // namespace scopevm::compiler::layouts
