// Verifiers of external functions, their calls, and partitions.
#include <set>

#include "compiler/graph/control/isolated_body.h"
#include "compiler/graph/control/signature.h"
#include "compiler/graph/external/extern.h"
#include "compiler/graph/type_rule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#define GET_OP_CLASSES
#include "compiler/graph/external/ops.cpp.inc"

namespace scopevm::compiler::graph {
namespace {

// The name of the thread count in workspace formulas.
constexpr char kThreads[] = "$threads";

// The type of an external function; null if the callee does not exist.
mlir::FunctionType type_of_callee(CallExternOp call) {
  mlir::Operation* callee = mlir::SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr());
  if (auto declared = mlir::dyn_cast_or_null<ExternOp>(callee)) return declared.getSignature();
  if (auto function = mlir::dyn_cast_or_null<mlir::func::FuncOp>(callee))
    return function.getFunctionType();
  return nullptr;
}

std::set<std::string> names_in(mlir::FunctionType type) {
  std::set<std::string> names;
  for (mlir::Type each : llvm::concat<const mlir::Type>(type.getInputs(), type.getResults()))
    for (DimExpr dim : mlir::cast<TensorType>(each).getShape())
      if (dim.kind() == DimExpr::Kind::kSymbol) names.insert(std::string(dim.symbol_name()));
  return names;
}

}  // namespace

ExternOp declaration_of(CallExternOp call) {
  return mlir::dyn_cast_or_null<ExternOp>(
      mlir::SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()));
}

llvm::FailureOr<DimBindings> bind_extern(CallExternOp call) {
  mlir::FunctionType type = type_of_callee(call);
  if (!type) return call.emitOpError() << "unknown function @" << call.getCallee();
  return bind_signature(call, "@" + call.getCallee(), type);
}

DimExpr workspace_of(ExternOp declaration) {
  return *DimExpr::parse(declaration.getWorkspace().str());
}

llvm::LogicalResult ExternOp::verify() {
  const mlir::FunctionType type = getSignature();
  for (mlir::Type each : llvm::concat<const mlir::Type>(type.getInputs(), type.getResults())) {
    auto tensor = mlir::dyn_cast<TensorType>(each);
    if (!tensor || tensor.getDtype() == DType::kStr)
      return emitOpError() << "takes or returns " << text_of(each)
                           << ", expected tensors of numbers or bools";
  }
  if (type.getNumResults() == 0) return emitOpError("has no results, expected at least 1");
  if (getLibrary().empty()) return emitOpError("library is empty");
  const std::set<std::string> names = names_in(type);
  for (mlir::Type each : llvm::concat<const mlir::Type>(type.getInputs(), type.getResults()))
    for (DimExpr dim : mlir::cast<TensorType>(each).getShape())
      for (const std::string& name : dim.symbols())
        if (!names.contains(name))
          return emitOpError() << "dim " << dim.str() << " uses " << name
                               << ", which is not itself a dim of a parameter or result";
  const auto workspace = DimExpr::parse(getWorkspace().str());
  if (!workspace) return emitOpError() << "workspace \"" << getWorkspace() << "\" is not a formula";
  for (const std::string& name : workspace->symbols())
    if (name != kThreads && !names.contains(name))
      return emitOpError() << "workspace \"" << getWorkspace() << "\" uses " << name
                           << ", which is not a dim of a parameter or result";
  return mlir::success();
}

mlir::ParseResult PartitionOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  return parse_isolated_body(parser, result);
}
void PartitionOp::print(mlir::OpAsmPrinter& printer) { print_isolated_body(printer, *this); }
llvm::LogicalResult PartitionOp::verify() { return verify_isolated_body(*this); }

llvm::LogicalResult CallExternOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  return bind_extern(*this);
}

}  // namespace scopevm::compiler::graph
