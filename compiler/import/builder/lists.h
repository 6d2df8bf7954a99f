// Builds ops on sequences and optionals. An op on a list that sv.list makes is folded if its index
// is a constant in range: its result is an operand of the sv.list, or another sv.list. Lists of
// known length therefore need no code at run time, unless they leave the graph.
#pragma once

#include <optional>

#include "compiler/import/builder/graph_builder.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// The common supertype of two types, of which at least one is a list type. The supertype of an
// optional and its element type is the optional. Null if there is none, or if neither type is a
// list type.
graph::ListType join_lists(mlir::Type a, mlir::Type b);

// The elements of a list that sv.list makes. No value for other lists, whose lengths are known only
// at run time.
std::optional<mlir::OperandRange> elements_of(mlir::Value list);

class ListBuilder {
 public:
  explicit ListBuilder(GraphBuilder& builder) : builder_(builder) {}

  mlir::Value make(graph::ListType type, llvm::ArrayRef<mlir::Value> elements);
  mlir::Value make_empty(ValueKind kind, DType dtype);
  // A sequence. Errors: kInvalidModel if the element types differ. REQUIRES: `elements` is not
  // empty.
  Result<mlir::Value> make_sequence(llvm::ArrayRef<mlir::Value> elements);
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

  GraphBuilder& builder_;
};

}  // namespace scopevm::compiler::frontend
