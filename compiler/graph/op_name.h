// The model's name of an op.
#pragma once

#include <string>

#include "mlir/IR/Operation.h"

namespace scopevm::graph {

// The names in the op's location, with "+" between those of ops that became one; without any, its
// mnemonic.
std::string op_name(mlir::Operation* op);

}  // namespace scopevm::graph
