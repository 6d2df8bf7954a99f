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

// The type of an external function; null if the callee does not exist.
mlir::FunctionType type_of_callee(CallExternOp call) {
  mlir::Operation* callee = mlir::SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr());
  if (auto declared = mlir::dyn_cast_or_null<ExternOp>(callee)) return declared.getSignature();
  if (auto function = mlir::dyn_cast_or_null<mlir::func::FuncOp>(callee))
    return function.getFunctionType();
  return nullptr;
}

bool is_result_dim(DimExpr dim) {
  return dim.kind() == DimExpr::Kind::kSymbol && is_runtime_defined(dim);
}

// True for equal types, and for a type whose dims are equal except for those with names that start
// with `$`.
bool is_part_of(TensorType op_result, TensorType result) {
  return op_result.getDtype() == result.getDtype() && op_result.getRank() == result.getRank() &&
         llvm::all_of(llvm::zip(op_result.getShape(), result.getShape()), [](auto dims) {
           return is_result_dim(std::get<0>(dims)) || std::get<0>(dims) == std::get<1>(dims);
         });
}

llvm::LogicalResult verify_op_results(ExternOp op) {
  const llvm::ArrayRef<mlir::Type> results = op.getSignature().getResults();
  const mlir::ArrayAttr op_results = *op.getOpResults();
  if (op_results.size() + 1 != results.size())
    return op.emitOpError() << "has " << op_results.size() << " op_results, expected "
                            << results.size() - 1 << ": one for each result except the last";
  for (auto [i, type] : llvm::enumerate(op_results.getAsValueRange<mlir::TypeAttr>())) {
    auto tensor = mlir::dyn_cast<TensorType>(type);
    if (!tensor || !is_part_of(tensor, mlir::cast<TensorType>(results[i])))
      return op.emitOpError() << "op_results " << i << " is " << text_of(type)
                              << ", which differs from result type " << text_of(results[i])
                              << " in more than names that start with $";
  }
  const auto counts = mlir::cast<TensorType>(results.back());
  const auto count = static_cast<int64_t>(op.getResultDimNames().size());
  if (counts.getDtype() != DType::kI64 || counts.getRank() != 1 ||
      !counts.getShape()[0].is_constant(count))
    return op.emitOpError() << "the last result is " << text_of(counts) << ", expected i64["
                            << count << "], one element for each name in op_results that starts "
                            << "with $";
  return mlir::success();
}

std::set<std::string> names_in(mlir::FunctionType type) {
  std::set<std::string> names;
  for (mlir::Type each : llvm::concat<const mlir::Type>(type.getInputs(), type.getResults()))
    for (DimExpr dim : mlir::cast<TensorType>(each).getShape())
      if (dim.kind() == DimExpr::Kind::kSymbol) names.insert(std::string(dim.symbol_name()));
  return names;
}

}  // namespace

llvm::SmallVector<std::string> ExternOp::getResultDimNames() {
  llvm::SmallVector<std::string> names;
  for (auto type : getOpResults()->getAsValueRange<mlir::TypeAttr>())
    for (DimExpr dim : mlir::cast<TensorType>(type).getShape())
      if (is_result_dim(dim) && !llvm::is_contained(names, dim.symbol_name()))
        names.emplace_back(dim.symbol_name());
  return names;
}

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
    if (name != kThreadsSymbol && !names.contains(name))
      return emitOpError() << "workspace \"" << getWorkspace() << "\" uses " << name
                           << ", which is not a dim of a parameter or result";
  return getOpResults() ? verify_op_results(*this) : mlir::success();
}

llvm::LogicalResult CallExternOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  return bind_extern(*this);
}

}  // namespace scopevm::compiler::graph
