// The graph ops: generated definitions, and the text form and verifier of sv.group.
#include "compiler/graph/graph_ops.h"

#include "compiler/graph/infer.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "compiler/graph/graph_ops.cpp.inc"

namespace scopevm::graph {

void GraphDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "compiler/graph/graph_ops.cpp.inc"
      >();
}

// sv.group (%a = %x : T, %b = %y : U) -> (V) { ... sv.yield %v : V }
mlir::ParseResult GroupOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
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

void GroupOp::print(mlir::OpAsmPrinter& printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
            << std::get<1>(pair).getType();
  });
  printer << ") -> (";
  llvm::interleaveComma(getResultTypes(), printer);
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

llvm::LogicalResult GroupOp::verify() {
  mlir::Block& block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("body arguments must have the inputs' types");
  if (block.getTerminator()->getOperandTypes() != getResultTypes())
    return emitOpError("must yield its result types");
  return mlir::success();
}

}  // namespace scopevm::graph
