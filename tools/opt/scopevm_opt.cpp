// scopevm-opt: runs passes, or the whole pipeline of the MLIR stages, on a graph in MLIR assembly.
// For tests and debugging; docs/pipeline.md shows its use.
#include "compiler/passes/context.h"
#include "compiler/passes/pass_stages.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  scopevm::compiler::register_dialects(registry);
  scopevm::compiler::register_passes();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "scopevm-opt: runs passes on a graph in MLIR assembly\n", registry));
}
