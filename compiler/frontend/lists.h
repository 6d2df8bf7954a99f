// Builds ops on lists whose lengths are known only at run time.
#pragma once

#include <optional>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/Builders.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// The common supertype of two types, of which at least one is a list type. The supertype of an
// optional and its element type is the optional. Null if there is none, or if neither type is a
// list type.
graph::ListType join_lists(mlir::Type a, mlir::Type b);

class ListBuilder {
 public:
  ListBuilder(mlir::OpBuilder& builder, mlir::Location location,
              llvm::function_ref<std::string(llvm::StringRef)> fresh)
      : builder_(builder), location_(location), fresh_(fresh) {}

  mlir::Value make(graph::ListType type, llvm::ArrayRef<mlir::Value> elements);
  // Errors: kUnsupported if the list type does not specify the rank of its elements, or if no
  // element was inserted.
  Result<mlir::Value> get(mlir::Value list, DimExpr index);
  // Inserts before `index`, or appends without an index. Errors: kInvalidModel if `element` is
  // a list, or if its element type differs from the list's.
  Result<mlir::Value> insert(mlir::Value list, mlir::Value element, std::optional<DimExpr> index);
  mlir::Value erase(mlir::Value list, DimExpr index);
  DimExpr size(mlir::Value list);
  // Converts `value` to `type`: wraps it in an optional if `type` is an optional and `value` is
  // not.
  mlir::Value fit(mlir::Value value, mlir::Type type);

 private:
  graph::DimsAttr dims(std::optional<DimExpr> index);

  mlir::OpBuilder& builder_;
  mlir::Location location_;
  llvm::function_ref<std::string(llvm::StringRef)> fresh_;
};

}  // namespace scopevm::compiler::frontend
