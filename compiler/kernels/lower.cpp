// The functions of a graph -> a Program; see the header.
#include "compiler/kernels/lower.h"

#include <cstdint>

#include "compiler/graph/rewrite/passes.h"
#include "compiler/kernels/function_lowering.h"

namespace scopevm::kernels {
namespace {

// @main, and what it calls, directly or through others.
llvm::SmallVector<mlir::func::FuncOp> reachable_from(mlir::func::FuncOp main) {
  llvm::SmallVector<mlir::func::FuncOp> functions = {main};
  for (size_t i = 0; i < functions.size(); ++i)
    for (mlir::func::FuncOp callee : graph::callees_of(functions[i]))
      if (!llvm::is_contained(functions, callee)) functions.push_back(callee);
  return functions;
}

Status lower_functions(mlir::func::FuncOp main, Program& program, KernelModule& kernels,
                       const std::map<std::string, DimBound>& dims) {
  llvm::SmallVector<mlir::func::FuncOp> functions = reachable_from(main);
  FunctionLowering::Functions indexes;
  for (auto [index, function] : llvm::enumerate(functions))
    indexes[function.getName().str()] = static_cast<int>(index);
  for (mlir::func::FuncOp function : functions) {
    // --dim speaks of the dims that the caller of the model gives.
    bool is_main = function == main;
    Status status = FunctionLowering(program, kernels, indexes)
                        .run(function, is_main ? dims : std::map<std::string, DimBound>(),
                             is_main ? DimBound() : DimBound{.max = INT64_MAX});
    if (!status.is_ok())
      return is_main ? std::move(status) : std::move(status).with_context(function.getName().str());
  }
  return {};
}

}  // namespace

Result<Program> lower(mlir::ModuleOp graph, KernelModule& kernels,
                      const std::map<std::string, DimBound>& dims) {
  Program program;
  program.devices = {{"cpu", "cpu"}};
  program.pools = {{"global", PoolKind::kHeap},
                   {"global.workspace", PoolKind::kArena},
                   {"global.constant", PoolKind::kConstant}};
  auto main = graph.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal())
    return Status(StatusCode::kInvalidModel, "the module has no function @main");
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(graph.getContext(), [&](mlir::Diagnostic& diagnostic) {
    diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  Status status = lower_functions(main, program, kernels, dims);
  if (!status.is_ok()) {
    if (diagnostics.empty()) return status;
    return Status(status.code(), std::string(status.message()) + ": " + diagnostics);
  }
  program.kernels = kernels.kernels();
  return program;
}

}  // namespace scopevm::kernels
