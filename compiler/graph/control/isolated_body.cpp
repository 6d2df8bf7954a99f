// Parses, prints and verifies ops with an isolated body: see isolated_body.h.
#include "compiler/graph/control/isolated_body.h"

#include "llvm/ADT/STLExtras.h"

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

}  // namespace scopevm::compiler::graph
