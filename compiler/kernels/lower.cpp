// The functions of a graph -> a Program; see the header.
#include "compiler/kernels/lower.h"

#include "compiler/kernels/function_lowering.h"

namespace scopevm::kernels {

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
  Status status = FunctionLowering(program, kernels).run(main, dims);
  if (!status.is_ok()) {
    if (diagnostics.empty()) return status;
    return Status(status.code(), std::string(status.message()) + ": " + diagnostics);
  }
  program.kernels = kernels.kernels();
  return program;
}

}  // namespace scopevm::kernels
