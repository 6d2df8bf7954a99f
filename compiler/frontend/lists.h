// Builds the ops on lists whose lengths are known during the call only.
#pragma once

#include <optional>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/Builders.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// What both types fit into, where one of them is a list: also an optional, and what it would hold.
// Null where there is none.
graph::ListType join_lists(mlir::Type a, mlir::Type b);

class ListBuilder {
 public:
  ListBuilder(mlir::OpBuilder& builder, mlir::Location location,
              llvm::function_ref<std::string(llvm::StringRef)> fresh)
      : builder_(builder), location_(location), fresh_(fresh) {}

  mlir::Value make(graph::ListType type, llvm::ArrayRef<mlir::Value> elements);
  // Errors: kUnsupported when nothing is known of the element's dims.
  Result<mlir::Value> get(mlir::Value list, DimExpr index);
  // At the end without an index. Errors: kInvalidModel for another element type.
  Result<mlir::Value> insert(mlir::Value list, mlir::Value element, std::optional<DimExpr> index);
  mlir::Value erase(mlir::Value list, DimExpr index);
  DimExpr size(mlir::Value list);
  // The value, or where the type is an optional and it is not, an optional of it.
  mlir::Value fit(mlir::Value value, mlir::Type type);

 private:
  graph::DimsAttr dims(std::optional<DimExpr> index);

  mlir::OpBuilder& builder_;
  mlir::Location location_;
  llvm::function_ref<std::string(llvm::StringRef)> fresh_;
};

}  // namespace scopevm::compiler::frontend
