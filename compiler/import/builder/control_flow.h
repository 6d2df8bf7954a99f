// Builds sv.if and sv.loop, and computes the types of the values that flow through them.
#pragma once

#include <set>
#include <string>

#include "compiler/import/builder/graph_builder.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// The values that an iteration yields.
struct Iteration {
  mlir::Value condition;  // bool[]: whether another iteration follows; null if it always does
  llvm::SmallVector<mlir::Value> carried;  // the carried values of the next iteration
  // One slice of each output that the loop gathers along a new first dim.
  llvm::SmallVector<mlir::Value> parts;
};

class ControlFlowBuilder {
 public:
  explicit ControlFlowBuilder(GraphBuilder& builder) : builder_(builder) {}

  // Builds the ops of a branch at the builder's insertion point and returns the yielded values.
  using Branch = llvm::function_ref<Result<llvm::SmallVector<mlir::Value>>()>;
  // Errors: kUnsupported if the branches yield different element types or ranks, kInvalidModel if
  // they yield different numbers of values, and the errors of the branches.
  Result<llvm::SmallVector<mlir::Value>> if_else(mlir::Value condition, Branch then,
                                                 Branch otherwise);

  // `body` may be called several times, until the argument types hold for every iteration; the ops
  // of earlier calls are erased. Without a trip count, the loop has no limit. Errors: kUnsupported
  // if a carried value changes its element type or rank, or if a gathered part is a list or may
  // change its shape; kInvalidModel if the number of carried values changes; and the errors of
  // `body`.
  using Body = llvm::function_ref<Result<Iteration>(DimExpr index, mlir::ValueRange carried)>;
  Result<llvm::SmallVector<mlir::Value>> loop(std::optional<DimExpr> trip_count,
                                              llvm::ArrayRef<mlir::Value> initial, Body body);

 private:
  bool open_carried(llvm::ArrayRef<mlir::Value> from, llvm::SmallVectorImpl<mlir::Type>& types,
                    llvm::SmallVectorImpl<mlir::Attribute>& symbols);
  mlir::Type close(mlir::Type type, const std::set<std::string>& inner,
                   llvm::SmallVectorImpl<mlir::Attribute>& symbols);
  void fit_operands(mlir::Operation* terminator, size_t first, llvm::ArrayRef<mlir::Type> types);
  mlir::Attribute symbol_named(llvm::StringRef name);

  GraphBuilder& builder_;
};

}  // namespace scopevm::compiler::frontend
