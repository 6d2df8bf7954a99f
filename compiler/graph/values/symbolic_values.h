// Integer tensors whose elements are known as dimension expressions: an analysis over values.
//
// Models compute shapes with tensors: Shape, Gather, Add, Concat, then Reshape. The elements of
// such small integer tensors are polynomials over the input dims, and here they are found by
// evaluating the ops that make them, once each. Whoever needs dims (a Reshape's target, a Slice's
// start) asks for the elements; no kernel runs and no tensor exists.
#pragma once

#include <optional>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/values/dim_interval.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir {
class OpBuilder;
}

namespace scopevm::compiler::graph {

class SymbolicValues {
 public:
  // Longer tensors are data, not shapes.
  static constexpr int64_t kMaxElements = 1024;

  explicit SymbolicValues(DimIntervals intervals) : intervals_(intervals) {}

  // The elements in row-major order: i32, i64 or bool (as 0 and 1), of static shape. Null when they
  // are not known. Valid until the next call that evaluates. Asking about values in program order
  // keeps the recursion shallow.
  const std::vector<DimExpr>* find(mlir::Value value);
  const DimIntervals& intervals() const { return intervals_; }

  using Elements = std::optional<std::vector<DimExpr>>;
  // SymbolicOp of the families whose interfaces say enough.
  Elements evaluate_elementwise(ElementwiseOp op);
  Elements evaluate_reduction(ReductionOp op);

 private:
  Elements evaluate(mlir::Operation* op);
  std::optional<DimExpr> combined(Combine how, DimExpr a, DimExpr b) const;

  DimIntervals intervals_;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Elements>> known_;
};

// A value that holds known elements: sv.constant when all are numbers, else sv.dims_tensor. Null
// when they are not and the type is bool or has more than one dim.
mlir::Value materialise(mlir::OpBuilder& builder, mlir::Location location, TensorType type,
                        llvm::ArrayRef<DimExpr> elements);

}  // namespace scopevm::compiler::graph
