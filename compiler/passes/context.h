// The MLIR context of a compilation. All dialects are loaded in advance: several threads lower
// kernels, and loading a dialect at the same time would be a data race.
#pragma once

#include <memory>

namespace mlir {
class DialectRegistry;
class MLIRContext;
}  // namespace mlir

namespace scopevm::compiler {

// Adds every dialect, external model of an interface and LLVM IR translation that the compiler
// uses.
void register_dialects(mlir::DialectRegistry& registry);
std::unique_ptr<mlir::MLIRContext> make_context();

}  // namespace scopevm::compiler
