// Axes: the dims that a kernel's work items run along, and how positions in its buffers move along
// them.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/shapes/dim_expr.h"
#include "llvm/ADT/SmallVector.h"

namespace scopevm::compiler::kernels {

using Dims = llvm::SmallVector<DimExpr, 6>;

// One axis of an iteration space, and how far each followed offset moves along it, in elements.
struct Axis {
  DimExpr size;
  llvm::SmallVector<DimExpr, 3> strides;
};

// The dims and the element type of a graph value.
llvm::ArrayRef<DimExpr> shape_of(mlir::Value value);
DType dtype_of(mlir::Value value);

Dims row_major_strides(llvm::ArrayRef<DimExpr> shape);
// The product of dims [from, to).
DimExpr product(llvm::ArrayRef<DimExpr> shape, size_t from, size_t to);
// How many items the axes have together.
DimExpr count_items(llvm::ArrayRef<Axis> axes);
// Drops axes of size 1 and joins neighbours that all offsets run through as one.
void simplify(llvm::SmallVector<Axis>& axes);

}  // namespace scopevm::compiler::kernels
