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

// Moves `ops`, in this order, into the empty region of `op`, and yields `outputs`, which the
// results of `op` replace. Ops that still have other users are copied. REQUIRES: the operands of
// `op` are the values that `ops` use and do not define.
void move_into_body(llvm::ArrayRef<mlir::Operation*> ops, mlir::ValueRange outputs,
                    mlir::Operation* op);

// Moves `ops` as above into an sv.group in place of the last one, which yields that op's results.
// The location of the group joins `locations`.
void form_group(llvm::ArrayRef<mlir::Operation*> ops, llvm::ArrayRef<mlir::Value> inputs,
                llvm::ArrayRef<mlir::Location> locations);

}  // namespace scopevm::compiler::graph
