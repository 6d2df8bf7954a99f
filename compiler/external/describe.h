// Descriptions of functions for libraries: JSON in the format of scopevm/c/external.h.
#pragma once

#include <string>

#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::external {

// The ops of a function from outline(). An sv.constant is an op "constant" whose attribute "value"
// is the number that all its elements equal; it is a string for NaN and infinities. Operands have
// the members "constant" and "prepared" if their parameters have the attributes kConstant and
// kPrepared.
std::string describe(mlir::func::FuncOp function);
// One op with the attributes of the declaration.
std::string describe(graph::ExternOp declaration);

}  // namespace scopevm::compiler::external
