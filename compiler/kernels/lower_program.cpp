// Lowers the functions of a graph to a Program.
#include "compiler/kernels/lower_program.h"

#include <cstdint>

#include "compiler/graph/rewrite/passes.h"
#include "compiler/kernels/function/constant_table.h"
#include "compiler/kernels/function/function_lowering.h"
#include "llvm/ADT/MapVector.h"

namespace scopevm::compiler::kernels {
namespace {

using Callees = llvm::MapVector<llvm::StringRef, mlir::func::FuncOp>;

// Collects the transitive callees of `caller`. Functions with one name in several graphs are equal,
// because narrower bounds of an entry do not change its callees.
void add_callees(mlir::func::FuncOp caller, Callees& callees) {
  for (mlir::func::FuncOp callee : graph::callees_of(caller))
    if (callees.insert({callee.getName(), callee}).second) add_callees(callee, callees);
}

class Lowering {
 public:
  Lowering(const Machine& machine, const ModulesByDevice& kernels)
      : kernels_(kernels), constants_(program_) {
    program_.machine = machine;
  }

  // Lowers the entries in order, then their callees.
  Result<Program> run(llvm::ArrayRef<GraphFunction> entries) {
    llvm::SmallVector<mlir::func::FuncOp> functions;
    Callees callees;
    for (GraphFunction entry : entries) {
      functions.push_back(entry.graph.lookupSymbol<mlir::func::FuncOp>(entry.name));
      if (!functions.back() || functions.back().isExternal())
        return Status(StatusCode::kInvalidModel, "the module has no function @" + entry.name);
      add_callees(functions.back(), callees);
    }
    for (auto [i, callee] : llvm::enumerate(callees))
      // Entries are not indexed, because no function calls them.
      indexes_[callee.first.str()] = {static_cast<uint32_t>(functions.size() + i)};
    for (auto [function, entry] : llvm::zip(functions, entries))
      SCOPEVM_RETURN_IF_ERROR(lower(function, entry.dims, DimBound()));
    // --dim bounds only the dims of the model's inputs.
    for (auto& [name, callee] : callees) {
      SCOPEVM_RETURN_IF_ERROR(
          lower(callee, {}, DimBound{.max = INT64_MAX}).with_context(name.str()));
      program_.functions.back().is_entry = false;
    }
    return std::move(program_);
  }

 private:
  Status lower(mlir::func::FuncOp function, const std::map<std::string, DimBound>& dims,
               const DimBound& any) {
    std::string diagnostics;
    mlir::ScopedDiagnosticHandler handler(function.getContext(), [&](mlir::Diagnostic& diagnostic) {
      diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
      return mlir::success();
    });
    Status status = FunctionLowering(program_, constants_, kernels_, kernel_indexes_, indexes_)
                        .run(function, dims, any);
    if (status.ok() || diagnostics.empty()) return status;
    return Status(status.code(), std::string(status.message()) + ": " + diagnostics);
  }

  Program program_;
  const ModulesByDevice& kernels_;
  FunctionLowering::KernelIndexes kernel_indexes_;
  ConstantTable constants_;
  FunctionLowering::Functions indexes_;
};

}  // namespace

Result<Program> lower_program(llvm::ArrayRef<GraphFunction> functions, const Machine& machine,
                              const ModulesByDevice& kernels) {
  return Lowering(machine, kernels).run(functions);
}

}  // namespace scopevm::compiler::kernels
