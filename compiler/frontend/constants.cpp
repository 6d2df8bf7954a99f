// Creates sv.constant ops; see constants.h.
#include "compiler/frontend/constants.h"

#include "compiler/graph/values/constant_array.h"

namespace scopevm::compiler::frontend {

mlir::Value make_constant(mlir::OpBuilder& builder, mlir::Location location,
                          const TensorBytes& tensor, llvm::StringRef name) {
  const llvm::SmallVector<llvm::StringRef> strings(tensor.strings.begin(), tensor.strings.end());
  mlir::ElementsAttr elements =
      tensor.dtype == DType::kStr
          ? graph::strings_attribute(builder.getContext(), tensor.dims, strings)
          : graph::elements_attribute(builder.getContext(), tensor.dtype, tensor.dims,
                                      llvm::ArrayRef(tensor.data, tensor.size), tensor.owner, name);
  llvm::SmallVector<DimExpr> shape(tensor.dims.begin(), tensor.dims.end());
  auto result = graph::TensorType::get(builder.getContext(), tensor.dtype, shape);
  return builder.create<graph::ConstantOp>(location, result, elements);
}

mlir::Value make_scalar(mlir::OpBuilder& builder, mlir::Location location, double value,
                        DType dtype) {
  auto type = graph::TensorType::get(builder.getContext(), dtype, llvm::ArrayRef<DimExpr>());
  if (dtype == DType::kStr)
    return builder.create<graph::ConstantOp>(
        location, type, graph::strings_attribute(builder.getContext(), {}, llvm::StringRef()));
  graph::ConstantArray array(type);
  if (array.is_float())
    array.set(0, value);
  else
    array.set_integer(0, static_cast<int64_t>(value));
  return builder.create<graph::ConstantOp>(location, type, array.attribute(builder.getContext()));
}

}  // namespace scopevm::compiler::frontend
