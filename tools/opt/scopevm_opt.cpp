// scopevm-opt: runs single passes over graph text, for tests and for looking.
#include "compiler/driver/context.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/placement/place.h"
#include "llvm/Support/MemoryBuffer.h"
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

// Places a graph: --sv-place="machine=FILE place=RULE,RULE". Without a machine, on one CPU.
class PlacePass : public mlir::PassWrapper<PlacePass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlacePass)
  PlacePass() = default;
  PlacePass(const PlacePass& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const override { return "sv-place"; }
  llvm::StringRef getDescription() const override {
    return "give every value a place, and insert copies";
  }
  void runOnOperation() override {
    scopevm::Status status = run();
    if (status.is_ok()) return;
    getOperation().emitError() << std::string(status.message());
    signalPassFailure();
  }

 private:
  scopevm::Status run() {
    scopevm::Machine machine = scopevm::Machine::host();
    if (!file_.empty()) {
      auto text = llvm::MemoryBuffer::getFile(file_);
      if (!text)
        return scopevm::Status(scopevm::StatusCode::kNotFound, "no file " + std::string(file_));
      SCOPEVM_ASSIGN_OR_RETURN(machine, scopevm::parse_machine((*text)->getBuffer(), file_));
    }
    std::vector<scopevm::placement::Rule> rules;
    for (const std::string& text : places_) {
      SCOPEVM_ASSIGN_OR_RETURN(rules.emplace_back(), scopevm::placement::parse_rule(text));
    }
    auto report = scopevm::placement::place(getOperation(), machine, rules);
    return report.is_ok() ? scopevm::Status() : report.status();
  }

  Option<std::string> file_{*this, "machine", llvm::cl::desc("machine description")};
  ListOption<std::string> places_{*this, "place", llvm::cl::desc("rules, as for --place")};
};

}  // namespace

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  scopevm::register_dialects(registry);
  register_pass("sv-simplify", "fold constants, remove what is unused or undone",
                scopevm::graph::simplify);
  register_pass("sv-hoist", "move out of loops what iterations share", scopevm::graph::hoist);
  register_pass("sv-fuse", "group the ops that become one kernel", scopevm::graph::fuse);
  mlir::registerPass([] { return std::make_unique<PlacePass>(); });
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "scopevm-opt: passes over graph text\n", registry));
}
