// Constant folding of ops that move elements.
#include "compiler/graph/values/fold.h"

namespace scopevm::compiler::graph {

mlir::OpFoldResult ConstantOp::fold(FoldAdaptor) { return mlir::Attribute(getValue()); }

mlir::OpFoldResult ExpandOp::fold(FoldAdaptor adaptor) {
  return fold_tensor(*this, adaptor.getOperands(), [&](const ConstantArrays& x, ConstantArray& y) {
    gather_with(Cursor(y.dims(), broadcast_strides(x[0], y.dims().size())), x[0], y);
    return true;
  });
}

mlir::OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  return fold_tensor(*this, adaptor.getOperands(), [&](const ConstantArrays& x, ConstantArray& y) {
    llvm::SmallVector<int64_t> own = row_major_strides(x[0].dims()), strides;
    // Axis i of the result has the stride of axis permutation[i] of x.
    for (int64_t axis : getPermutation()) strides.push_back(own[axis]);
    gather_with(Cursor(y.dims(), strides), x[0], y);
    return true;
  });
}

mlir::OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  return fold_tensor(*this, adaptor.getOperands(), [&](const ConstantArrays& x, ConstantArray& y) {
    llvm::SmallVector<int64_t> own = row_major_strides(x[0].dims()), strides;
    int64_t start = 0;
    for (size_t axis = 0; axis < own.size(); ++axis) {
      std::optional<int64_t> from = getStarts().getValue()[axis].as_constant();
      if (!from) return false;
      int64_t last = *from + (y.dims()[axis] - 1) * getSteps()[axis];
      // A slice outside of x is left to the request check, which reports it.
      if (y.dims()[axis] > 0 &&
          (*from < 0 || *from >= x[0].dims()[axis] || last < 0 || last >= x[0].dims()[axis]))
        return false;
      start += *from * own[axis];
      strides.push_back(own[axis] * getSteps()[axis]);
    }
    gather_with(Cursor(y.dims(), strides, start), x[0], y);
    return true;
  });
}

mlir::OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  return fold_tensor(*this, adaptor.getOperands(), [&](const ConstantArrays& x, ConstantArray& y) {
    auto axis = static_cast<size_t>(getAxis());
    llvm::SmallVector<int64_t> strides = row_major_strides(y.dims());
    int64_t start = 0;
    for (const ConstantArray& part : x) {
      Cursor cursor(part.dims(), strides, start);
      for (int64_t i = 0; i < part.count(); ++i, cursor.next()) y.copy(cursor.at(), part, i);
      start += part.dims()[axis] * strides[axis];
    }
    return true;
  });
}

// Shares the operand's bytes.
mlir::OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  auto elements = mlir::dyn_cast_or_null<mlir::ElementsAttr>(adaptor.getX());
  auto type = mlir::cast<TensorType>(getResult().getType());
  if (!elements || !type.isStatic() || mlir::isa<StringType>(elements.getElementType())) return {};
  llvm::SmallVector<int64_t> dims;
  for (DimExpr dim : type.getShape()) dims.push_back(*dim.as_constant());
  auto shaped = mlir::RankedTensorType::get(dims, elements.getElementType());
  if (shaped.getNumElements() != elements.getNumElements()) return {};
  if (auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(elements))
    return mlir::Attribute(mlir::DenseResourceElementsAttr::get(shaped, resource.getRawHandle()));
  return mlir::Attribute(mlir::cast<mlir::DenseElementsAttr>(elements).reshape(shaped));
}

}  // namespace scopevm::compiler::graph
