// Lets functions return after a check that tells them to stop. The code after the check, which
// could read what a stopped loop has not written, is not executed.
#include "compiler/codegen/cpu/stop_checks/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace scopevm::compiler::codegen {
namespace {

// The work of a stopped function: its caller checks at once, and returns too.
constexpr int64_t kStoppedWork = int64_t{1} << 61;

// A block that returns. Of a function that returns its work, the last result is kStoppedWork.
mlir::Block* add_exit(mlir::func::FuncOp function) {
  mlir::Block* exit = &function.getBody().emplaceBlock();
  auto builder = mlir::OpBuilder::atBlockEnd(exit);
  llvm::SmallVector<mlir::Value> results;
  for (const mlir::Type type : function.getResultTypes()) {
    const bool is_work = results.size() + 1 == function.getNumResults();
    const mlir::TypedAttr value = is_work ? builder.getIndexAttr(kStoppedWork)
                                          : mlir::cast<mlir::TypedAttr>(builder.getZeroAttr(type));
    results.push_back(builder.create<mlir::arith::ConstantOp>(function.getLoc(), value));
  }
  builder.create<mlir::func::ReturnOp>(function.getLoc(), results);
  return exit;
}

struct ReturnEarlyPass
    : mlir::PassWrapper<ReturnEarlyPass, mlir::OperationPass<mlir::func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReturnEarlyPass)

  llvm::StringRef getArgument() const override { return "sv-return-early"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect>();
  }
  void runOnOperation() override {
    llvm::SmallVector<mlir::func::CallOp> checks;
    getOperation().walk([&](mlir::func::CallOp call) {
      if (call.getCallee() == kIsStopped) checks.push_back(call);
    });
    if (checks.empty()) return;
    mlir::Block* exit = add_exit(getOperation());
    for (mlir::func::CallOp check : checks) {
      mlir::Block* block = check->getBlock();
      mlir::Block* rest = block->splitBlock(std::next(check->getIterator()));
      mlir::OpBuilder::atBlockEnd(block).create<mlir::cf::CondBranchOp>(
          check.getLoc(), check.getResult(0), exit, rest);
    }
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> create_return_early_pass() {
  return std::make_unique<ReturnEarlyPass>();
}

}  // namespace scopevm::compiler::codegen
