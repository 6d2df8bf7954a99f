// The seed of main; see random_keys.h.
#include "compiler/import/builder/random_keys.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/values/elements.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::frontend {

void RandomKeys::declare_seed(mlir::func::FuncOp main, const std::string& name) {
  mlir::Builder builder(main.getContext());
  const auto zero = mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get({}, builder.getI64Type()), int64_t{0});
  const auto type =
      graph::TensorType::get(main.getContext(), DType::kI64, llvm::ArrayRef<DimExpr>());
  mlir::NamedAttrList attributes;
  attributes.set("sv.name", builder.getStringAttr(name));
  attributes.set(graph::kDefaultAttribute, zero);
  const unsigned index = main.getNumArguments();
  main.insertArgument(index, type, attributes.getDictionary(main.getContext()),
                      mlir::NameLoc::get(builder.getStringAttr(name)));
  seed_ = main.getArgument(index);
  parts_.push_back({&main.getBody().front(), "", {}});
}

}  // namespace scopevm::compiler::frontend
