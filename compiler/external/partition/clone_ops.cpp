// Clones ops with other dims: see clone_ops.h. Substitution in the result types is not enough,
// because type rules treat numbers and symbols differently, for example in a broadcast.
#include "compiler/external/partition/clone_ops.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::external {
namespace {

llvm::LogicalResult replace_dims(mlir::Operation* op, ReplaceDim replace) {
  for (mlir::NamedAttribute attribute : llvm::to_vector(op->getAttrs())) {
    auto dims = mlir::dyn_cast<graph::DimsAttr>(attribute.getValue());
    if (!dims) continue;
    llvm::SmallVector<DimExpr> replaced;
    for (DimExpr dim : dims.getValue()) {
      const std::optional<DimExpr> with = replace(dim);
      if (!with) return mlir::failure();
      replaced.push_back(*with);
    }
    op->setAttr(attribute.getName(), graph::DimsAttr::get(op->getContext(), replaced));
  }
  return mlir::success();
}

}  // namespace

llvm::LogicalResult clone_ops(mlir::Block& block, mlir::OpBuilder& builder,
                              mlir::IRMapping& mapping, ReplaceDim replace) {
  for (mlir::Operation& op : block.without_terminator()) {
    mlir::Operation* clone = builder.clone(op, mapping);
    if (failed(replace_dims(clone, replace)) || failed(graph::infer_results(clone)))
      return mlir::failure();
  }
  return mlir::success();
}

}  // namespace scopevm::compiler::external
