// Axes: the dims that a kernel's work items iterate over, and the strides of the kernel's buffers
// along these dims.
#pragma once

#include "compiler/dims/dim_expr.h"
#include "compiler/graph/graph_ops.h"
#include "llvm/ADT/SmallVector.h"

namespace scopevm::compiler::kernels {

using Dims = llvm::SmallVector<DimExpr, 6>;

// One axis of an iteration space. One step along the axis adds strides[c] elements to offset c.
struct Axis {
  DimExpr size;
  llvm::SmallVector<DimExpr, 3> strides;
};

// The dims and the element type of a graph value.
llvm::ArrayRef<DimExpr> shape_of(mlir::Value value);
DType dtype_of(mlir::Value value);

// The stride of each dim in elements; the last one is 1.
Dims row_major_strides(llvm::ArrayRef<DimExpr> shape);
// The product of dims [from, to).
DimExpr product(llvm::ArrayRef<DimExpr> shape, size_t from, size_t to);
// The number of items in the space: the product of the axis sizes.
DimExpr count_items(llvm::ArrayRef<Axis> axes);
// Removes axes of size 1. Merges adjacent axes if one axis with the strides of the inner axis can
// replace them.
void simplify(llvm::SmallVector<Axis>& axes);

}  // namespace scopevm::compiler::kernels
