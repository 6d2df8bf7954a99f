// Replaces calls of outlined functions by their ops: see partition.h.
#include "compiler/external/partition/clone_ops.h"
#include "compiler/external/partition/partition.h"
#include "compiler/graph/external/extern.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::external {
namespace {

llvm::LogicalResult inline_call(graph::CallExternOp call, mlir::func::FuncOp function) {
  const llvm::FailureOr<graph::DimBindings> dims = graph::bind_extern(call);
  if (failed(dims)) return mlir::failure();
  const auto in_caller = [&](std::string_view name) -> std::optional<DimExpr> {
    auto bound = dims->find(name);
    return bound == dims->end() ? std::nullopt : std::optional(bound->second);
  };
  mlir::Block& body = function.getBody().front();
  mlir::IRMapping mapping;
  mapping.map(body.getArguments(), call.getArguments());
  mlir::OpBuilder builder(call);
  if (failed(clone_ops(body, builder, mapping, [&](DimExpr dim) -> std::optional<DimExpr> {
        return dim.substitute(in_caller);
      })))
    return mlir::failure();
  for (auto [result, value] : llvm::zip(call->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookup(value));
  call.erase();
  return mlir::success();
}

}  // namespace

llvm::LogicalResult inline_back(mlir::ModuleOp module, mlir::func::FuncOp function) {
  llvm::SmallVector<graph::CallExternOp> calls;
  module.walk([&](graph::CallExternOp call) {
    if (call.getCallee() == function.getName()) calls.push_back(call);
  });
  for (graph::CallExternOp call : calls)
    if (failed(inline_call(call, function))) return mlir::failure();
  function.erase();
  return mlir::success();
}

}  // namespace scopevm::compiler::external
