// scopevm-opt: runs single passes over graph text, for tests and for looking.
#include "compiler/driver/context.h"
#include "compiler/fusion/fuse.h"
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

// What a pass over places has in common: --PASS="machine=FILE". Without a machine, on one CPU.
template <typename Derived>
class MachinePass : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MachinePass() = default;
  MachinePass(const MachinePass& other)
      : mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>>(other) {}

  void runOnOperation() override {
    scopevm::Result<scopevm::compiler::Machine> machine = read();
    scopevm::Status status =
        machine.is_ok() ? static_cast<Derived*>(this)->run(*machine) : machine.status();
    if (status.is_ok()) return;
    this->getOperation().emitError() << std::string(status.message());
    this->signalPassFailure();
  }

 private:
  scopevm::Result<scopevm::compiler::Machine> read() {
    if (file_.empty()) return scopevm::compiler::Machine::host();
    auto text = llvm::MemoryBuffer::getFile(file_);
    if (!text)
      return scopevm::Status(scopevm::StatusCode::kNotFound, "no file " + std::string(file_));
    return scopevm::compiler::parse_machine((*text)->getBuffer(), file_);
  }

  mlir::Pass::Option<std::string> file_{*this, "machine", llvm::cl::desc("machine description")};
};

// Places a graph: --sv-place="machine=FILE place=RULE,RULE".
class PlacePass : public MachinePass<PlacePass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlacePass)
  PlacePass() = default;
  PlacePass(const PlacePass& other) : MachinePass(other) {}

  llvm::StringRef getArgument() const override { return "sv-place"; }
  llvm::StringRef getDescription() const override {
    return "give every value a place, and insert copies";
  }

  scopevm::Status run(const scopevm::compiler::Machine& machine) {
    std::vector<scopevm::compiler::placement::Rule> rules;
    for (const std::string& text : places_) {
      SCOPEVM_ASSIGN_OR_RETURN(rules.emplace_back(),
                               scopevm::compiler::placement::parse_rule(text));
    }
    auto report = scopevm::compiler::placement::place(getOperation(), machine, rules);
    return report.is_ok() ? scopevm::Status() : report.status();
  }

 private:
  ListOption<std::string> places_{*this, "place", llvm::cl::desc("rules, as for --place")};
};

// Checks places that the text gives by hand, or that other passes left.
class VerifyPlacesPass : public MachinePass<VerifyPlacesPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPlacesPass)
  VerifyPlacesPass() = default;
  VerifyPlacesPass(const VerifyPlacesPass& other) : MachinePass(other) {}

  llvm::StringRef getArgument() const override { return "sv-verify-places"; }
  llvm::StringRef getDescription() const override {
    return "fail where an op does not reach what it reads or writes";
  }

  scopevm::Status run(const scopevm::compiler::Machine& machine) {
    return scopevm::compiler::placement::verify_places(getOperation(), machine);
  }
};

}  // namespace

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  scopevm::compiler::register_dialects(registry);
  register_pass("sv-simplify", "fold constants, remove what is unused or undone",
                scopevm::compiler::graph::simplify);
  register_pass("sv-hoist", "move out of loops what iterations share",
                scopevm::compiler::graph::hoist);
  register_pass("sv-fuse", "group the ops that become one kernel", scopevm::compiler::fusion::fuse);
  mlir::registerPass([] { return std::make_unique<PlacePass>(); });
  mlir::registerPass([] { return std::make_unique<VerifyPlacesPass>(); });
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "scopevm-opt: passes over graph text\n", registry));
}
