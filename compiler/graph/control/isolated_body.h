// The syntax and the rules of ops whose region uses only its block arguments, one per operand:
//   OP (%a = %x : T, %b = %y : U) -> (V) { ... sv.yield %v : V }
#pragma once

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Operation.h"

namespace scopevm::compiler::graph {

mlir::ParseResult parse_isolated_body(mlir::OpAsmParser& parser, mlir::OperationState& result);
void print_isolated_body(mlir::OpAsmPrinter& printer, mlir::Operation* op);
// Fails with a diagnostic unless the block arguments have the types of the operands, and the
// yielded values the types of the results.
llvm::LogicalResult verify_isolated_body(mlir::Operation* op);

}  // namespace scopevm::compiler::graph
