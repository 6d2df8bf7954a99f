// Passes the values of a graph in random tuples, without changing what it computes.
#pragma once

#include <cstdint>

#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::property {

// Groups arguments and results of functions, closures, branches and loops into nested tuples.
// Flattening the tuples restores the module.
void add_tuples(mlir::ModuleOp module, uint64_t seed);

}  // namespace scopevm::compiler::property
