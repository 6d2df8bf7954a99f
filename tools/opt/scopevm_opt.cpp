// scopevm-opt: runs single passes over graph text, for tests and for looking.
#include "compiler/driver/context.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/placement/place.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace {

// A pass that calls one function of the compiler.
class FunctionPass : public mlir::PassWrapper<FunctionPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FunctionPass)
  using Function = llvm::LogicalResult (*)(mlir::ModuleOp);

  FunctionPass(llvm::StringRef argument, llvm::StringRef description, Function function)
      : argument_(argument), description_(description), function_(function) {}

  llvm::StringRef getArgument() const override { return argument_; }
  llvm::StringRef getDescription() const override { return description_; }
  void runOnOperation() override {
    if (failed(function_(getOperation()))) signalPassFailure();
  }

 private:
  std::string argument_;
  std::string description_;
  Function function_;
};

void register_pass(const char* argument, const char* description, FunctionPass::Function function) {
  mlir::registerPass(
      [=] { return std::make_unique<FunctionPass>(argument, description, function); });
}

llvm::LogicalResult place_on_cpu(mlir::ModuleOp module) {
  scopevm::Status status = scopevm::placement::place(module, scopevm::placement::Machine());
  if (status.is_ok()) return mlir::success();
  return module.emitError() << std::string(status.message());
}

}  // namespace

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  scopevm::register_dialects(registry);
  register_pass("sv-simplify", "fold constants, remove what is unused or undone",
                scopevm::graph::simplify);
  register_pass("sv-hoist", "move out of loops what iterations share", scopevm::graph::hoist);
  register_pass("sv-fuse", "group the ops that become one kernel", scopevm::graph::fuse);
  register_pass("sv-place", "give every value a place on the default machine", place_on_cpu);
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "scopevm-opt: passes over graph text\n", registry));
}
