// Parses, prints, verifies and fills ops with an isolated body: see isolated_body.h.
#include "compiler/graph/control/isolated_body.h"

#include "compiler/graph/graph_ops.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::graph {

mlir::ParseResult parse_isolated_body(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  auto parse_binding = [&]() -> mlir::ParseResult {
    mlir::OpAsmParser::Argument& argument = arguments.emplace_back();
    return mlir::failure(parser.parseArgument(argument) || parser.parseEqual() ||
                         parser.parseOperand(operands.emplace_back()) ||
                         parser.parseColonType(argument.type));
  };
  llvm::SMLoc location = parser.getCurrentLocation();
  llvm::SmallVector<mlir::Type> operand_types;
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, parse_binding) ||
      parser.parseArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return mlir::failure();
  for (const mlir::OpAsmParser::Argument& argument : arguments)
    operand_types.push_back(argument.type);
  return mlir::failure(parser.resolveOperands(operands, operand_types, location, result.operands) ||
                       parser.parseRegion(*result.addRegion(), arguments));
}

void print_isolated_body(mlir::OpAsmPrinter& printer, mlir::Operation* op) {
  mlir::Region& body = op->getRegion(0);
  printer << " (";
  llvm::interleaveComma(llvm::zip(body.getArguments(), op->getOperands()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
            << std::get<1>(pair).getType();
  });
  printer << ") -> (";
  llvm::interleaveComma(op->getResultTypes(), printer);
  printer << ")";
  printer.printOptionalAttrDictWithKeyword(op->getAttrs());
  printer << ' ';
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

llvm::LogicalResult verify_isolated_body(mlir::Operation* op) {
  mlir::Block& block = op->getRegion(0).front();
  if (block.getArgumentTypes() != op->getOperandTypes())
    return op->emitOpError("body arguments must have the types of the operands");
  if (block.getTerminator()->getOperandTypes() != op->getResultTypes())
    return op->emitOpError("yielded values must have the types of the results");
  return mlir::success();
}

void move_into_body(llvm::ArrayRef<mlir::Operation*> ops, mlir::ValueRange outputs,
                    mlir::Operation* op) {
  mlir::Block& body = op->getRegion(0).emplaceBlock();
  mlir::IRMapping mapping;
  for (mlir::Value operand : op->getOperands())
    mapping.map(operand, body.addArgument(operand.getType(), operand.getLoc()));
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&body);
  for (mlir::Operation* inner : ops) builder.clone(*inner, mapping);
  builder.create<YieldOp>(
      ops.back()->getLoc(),
      llvm::map_to_vector(outputs, [&](mlir::Value output) { return mapping.lookup(output); }));
  for (auto [output, result] : llvm::zip(outputs, op->getResults()))
    output.replaceAllUsesWith(result);
  // An op can be erased only after its users.
  for (mlir::Operation* inner : llvm::reverse(ops))
    if (inner->use_empty()) inner->erase();
}

void form_group(llvm::ArrayRef<mlir::Operation*> ops, llvm::ArrayRef<mlir::Value> inputs,
                llvm::ArrayRef<mlir::Location> locations) {
  mlir::Operation* last = ops.back();
  mlir::OpBuilder builder(last);
  move_into_body(
      ops, last->getResults(),
      builder.create<GroupOp>(builder.getFusedLoc(locations), last->getResultTypes(), inputs));
}

}  // namespace scopevm::compiler::graph
