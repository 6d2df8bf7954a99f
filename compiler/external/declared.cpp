// Completes the declarations of external functions that a model contains.
#include "compiler/external/describe.h"
#include "compiler/external/external.h"
#include "compiler/graph/external/extern.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace scopevm::compiler::external {
namespace {

using graph::TensorType;

// The scope of each type: "cpu.global.fast" requires "global.fast".
mlir::ArrayAttr scopes_of(llvm::ArrayRef<mlir::Type> types) {
  llvm::SmallVector<llvm::StringRef> scopes;
  for (mlir::Type type : types) {
    const graph::PlaceAttr place = mlir::cast<TensorType>(type).getPlace();
    scopes.push_back(place ? place.getScope() : llvm::StringRef());
  }
  if (llvm::all_of(scopes, [](llvm::StringRef scope) { return scope.empty(); })) return nullptr;
  return mlir::Builder(types.front().getContext()).getStrArrayAttr(scopes);
}

}  // namespace

void complete_declarations(mlir::ModuleOp module) {
  for (auto declaration : module.getOps<graph::ExternOp>())
    if (!declaration.getDescription()) declaration.setDescription(describe(declaration));
  module.walk([](graph::CallExternOp call) {
    graph::ExternOp declaration = graph::declaration_of(call);
    if (!declaration) return;
    const mlir::FunctionType type = declaration.getSignature();
    if (mlir::ArrayAttr scopes = scopes_of(type.getInputs()))
      call->setAttr(graph::kOperandScopes, scopes);
    if (mlir::ArrayAttr scopes = scopes_of(type.getResults()))
      call->setAttr(graph::kResultScopes, scopes);
  });
}

}  // namespace scopevm::compiler::external
