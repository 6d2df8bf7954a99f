// The property of every model file that can be imported.
#pragma once

#include <string>

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/import/import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

namespace scopevm::compiler::frontend {

// Imports a model, which may fail. Ends the program unless the graph is valid after the import and
// after each rewrite.
inline void check_import(const std::string& path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  const Result<ImportedModule> module = ModelFile(path).import({}, context);
  if (!module.ok()) return;
  const auto check = [&](llvm::LogicalResult result) {
    if (failed(result)) __builtin_trap();
  };
  check(mlir::verify(**module));
  check(graph::simplify(**module));
  check(mlir::verify(**module));
  check(graph::hoist(**module));
  check(mlir::verify(**module));
}

}  // namespace scopevm::compiler::frontend
