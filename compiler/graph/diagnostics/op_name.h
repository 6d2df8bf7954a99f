// The model's names of ops, inputs and outputs.
#pragma once

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

// The location of ops that a node of a model with this name and kind ("Conv") becomes.
mlir::Location op_location(mlir::MLIRContext* context, llvm::StringRef name,
                           llvm::StringRef model_kind);
// The kind in such a location, else op_kind().
std::string model_kind(mlir::Operation* op);

// The kind of the op in the graph: its mnemonic, or for a blocked form that the layouts stage chose
// (`blocked_conv`), the mnemonic of the op that it replaced (`conv`).
std::string op_kind(mlir::Operation* op);
// The names in the op's location, joined with "+" if several ops were fused into this one. If the
// location has no name: for a group, the names of its ops joined with "+"; for any other op, its
// kind.
std::string op_name(mlir::Operation* op);

// The name of a function argument, or "inputN" if argument N is unnamed. Empty for any other value.
std::string input_name(mlir::Value value);
// The name of a function result, or "outputN" if result N is unnamed.
std::string output_name(mlir::func::FuncOp function, unsigned index);

}  // namespace scopevm::compiler::graph
