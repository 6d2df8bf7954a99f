// Axes of iteration spaces.
#include "compiler/kernels/builder/axes.h"

namespace scopevm::compiler::kernels {

llvm::ArrayRef<DimExpr> shape_of(mlir::Value value) {
  return mlir::cast<graph::TensorType>(value.getType()).getShape();
}

DType dtype_of(mlir::Value value) {
  return mlir::cast<graph::TensorType>(value.getType()).getDtype();
}

Dims row_major_strides(llvm::ArrayRef<DimExpr> shape) {
  Dims strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

DimExpr product(llvm::ArrayRef<DimExpr> shape, size_t from, size_t to) {
  return element_count({shape.data() + from, to - from});
}

DimExpr count_items(llvm::ArrayRef<Axis> axes) {
  DimExpr items = 1;
  for (const Axis& axis : axes) items = items * axis.size;
  return items;
}

void simplify(llvm::SmallVector<Axis>& axes) {
  llvm::SmallVector<Axis> kept;
  // True if, for every offset, one step of the outer axis equals a full pass over the inner axis.
  // One axis can then replace both axes.
  auto can_merge = [](const Axis& outer, const Axis& inner) {
    for (size_t c = 0; c < outer.strides.size(); ++c)
      if (!(outer.strides[c] == inner.strides[c] * inner.size)) return false;
    return true;
  };
  for (Axis& axis : axes) {
    if (axis.size.is_constant(1)) continue;
    if (!kept.empty() && can_merge(kept.back(), axis)) {
      axis.size = axis.size * kept.back().size;
      kept.pop_back();
    }
    kept.push_back(axis);
  }
  axes = std::move(kept);
}

}  // namespace scopevm::compiler::kernels
