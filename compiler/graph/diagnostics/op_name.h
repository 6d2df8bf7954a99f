// The model's names of ops, inputs and outputs.
#pragma once

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

// The names in the op's location, joined with "+" if several ops were fused into this one. The op's
// mnemonic if the location has no name.
std::string op_name(mlir::Operation* op);

// The name of a function argument, "input0" if it is unnamed; empty for any other value.
std::string input_name(mlir::Value value);
// The name of a function result, "output0" if it is unnamed.
std::string output_name(mlir::func::FuncOp function, unsigned index);

}  // namespace scopevm::compiler::graph
