// Integer tensors whose elements are known as dimension expressions: an analysis over values.
//
// Models compute shapes with tensors: Shape, Gather, Add, Concat, then Reshape. The elements of
// these small integer tensors are expressions over the input dims. This analysis evaluates each op
// that produces such a tensor once, symbolically. A Reshape's target or a Slice's start is then
// taken from the result, and no kernel has to compute it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir {
class OpBuilder;
}

namespace scopevm::compiler::graph {

class SymbolicValues {
 public:
  // Tensors with more elements are treated as data, not as shapes.
  static constexpr int64_t kMaxElements = 1024;

  // The elements in row-major order, for i32, i64 or bool (as 0 and 1) tensors of static shape.
  // Null if they are unknown. The pointer is valid until the next call that evaluates. Querying
  // values in program order keeps the recursion shallow.
  const std::vector<DimExpr>* find(mlir::Value value);

  using Elements = std::optional<std::vector<DimExpr>>;
  // SymbolicOp implementations for families that are fully described by their interfaces.
  Elements evaluate_elementwise(ElementwiseOp op);
  Elements evaluate_reduction(ReductionOp op);

 private:
  Elements evaluate(mlir::Operation* op);
  static std::optional<DimExpr> combined(Combine how, DimExpr a, DimExpr b);

  llvm::DenseMap<mlir::Value, std::unique_ptr<Elements>> known_;
};

// A value with the given elements: sv.constant if all are numbers, else sv.dims_tensor. Null if
// some are symbolic and the type is bool or has rank above 1.
mlir::Value materialise(mlir::OpBuilder& builder, mlir::Location location, TensorType type,
                        llvm::ArrayRef<DimExpr> elements);

}  // namespace scopevm::compiler::graph
