// Fusion: groups of ops that become one kernel.
#include "compiler/graph/passes.h"

namespace scopevm::graph {

llvm::LogicalResult fuse(mlir::ModuleOp) { return mlir::success(); }

}  // namespace scopevm::graph
