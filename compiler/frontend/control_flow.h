// Builds sv.if and sv.loop: finds the types of what flows through them.
#pragma once

#include <set>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/Builders.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// What an iteration ends with.
struct Iteration {
  mlir::Value condition;                   // one bool: go on? Null: always
  llvm::SmallVector<mlir::Value> carried;  // of the next iteration
  llvm::SmallVector<mlir::Value> parts;    // of the results that gather along a new first dim
};

class ControlFlowBuilder {
 public:
  // `fresh(name)` gives a symbol that nothing else has, from a name for people.
  // `forget` is called when ops that were built are erased again.
  ControlFlowBuilder(mlir::OpBuilder& builder, mlir::Location location,
                     llvm::function_ref<std::string(llvm::StringRef)> fresh,
                     llvm::function_ref<void()> forget)
      : builder_(builder), location_(location), fresh_(fresh), forget_(forget) {}

  // A region's ops are built where the builder stands when `make` is called.
  using Branch = llvm::function_ref<Result<llvm::SmallVector<mlir::Value>>()>;
  // Errors: kUnsupported when the branches give different element types or ranks.
  Result<llvm::SmallVector<mlir::Value>> if_else(mlir::Value condition, Branch then,
                                                 Branch otherwise);

  // `body` may be called several times, until the types of its arguments hold for every iteration;
  // what earlier calls built is erased. An empty trip count is no limit.
  // Errors: kUnsupported when a carried value changes its element type or rank.
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

  mlir::OpBuilder& builder_;
  mlir::Location location_;
  llvm::function_ref<std::string(llvm::StringRef)> fresh_;
  llvm::function_ref<void()> forget_;
};

}  // namespace scopevm::compiler::frontend
