// The functions of a graph -> a Program; see the header.
#include "compiler/kernels/lower.h"

#include "compiler/kernels/function_lowering.h"

namespace scopevm::kernels {

namespace {

Status lower_function(const GraphFunction& from, Program& program, ConstantTable& constants,
                      KernelModule& kernels) {
  mlir::ModuleOp graph = from.graph;
  auto function = graph.lookupSymbol<mlir::func::FuncOp>(from.name);
  if (!function || function.isExternal())
    return Status(StatusCode::kInvalidModel, "the module has no function @" + from.name);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(graph.getContext(), [&](mlir::Diagnostic& diagnostic) {
    diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  Status status = FunctionLowering(program, constants, kernels).run(function, from.dims);
  if (status.is_ok() || diagnostics.empty()) return status;
  return Status(status.code(), std::string(status.message()) + ": " + diagnostics);
}

}  // namespace

Result<Program> lower(llvm::ArrayRef<GraphFunction> functions, KernelModule& kernels) {
  Program program;
  program.devices = {{"cpu", "cpu"}};
  program.pools = {{"global", PoolKind::kHeap},
                   {"global.workspace", PoolKind::kArena},
                   {"global.constant", PoolKind::kConstant}};
  ConstantTable constants(program.constants);
  for (const GraphFunction& function : functions)
    SCOPEVM_RETURN_IF_ERROR(lower_function(function, program, constants, kernels));
  program.kernels = kernels.kernels();
  return program;
}

}  // namespace scopevm::kernels
