// The MLIR context of a compilation, with every dialect that a stage creates already loaded:
// kernels are lowered by several threads, and loading a dialect then would race.
#pragma once

#include <memory>

namespace mlir {
class DialectRegistry;
class MLIRContext;
}  // namespace mlir

namespace scopevm::compiler {

// Adds every dialect, lowering interface and LLVM IR translation that the compiler uses.
void register_dialects(mlir::DialectRegistry& registry);
std::unique_ptr<mlir::MLIRContext> make_context();

}  // namespace scopevm::compiler
