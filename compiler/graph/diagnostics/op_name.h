// The model's names of ops, inputs and results.
#pragma once

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

// The names in the op's location, with "+" between those of ops that became one; without any, its
// mnemonic.
std::string op_name(mlir::Operation* op);

// The name of a function's argument, "input0" where it has none; empty for any other value.
std::string input_name(mlir::Value value);
// Likewise "output0".
std::string output_name(mlir::func::FuncOp function, unsigned index);

}  // namespace scopevm::compiler::graph
