// Creates sv.constant ops; see constants.h.
#include "compiler/import/builder/constants.h"

#include <cstring>

#include "compiler/graph/values/constant_array.h"
#include "compiler/graph/values/elements.h"

namespace scopevm::compiler::frontend {

mlir::Value make_constant(GraphBuilder& builder, const TensorBytes& tensor, llvm::StringRef name) {
  const llvm::SmallVector<llvm::StringRef> strings(tensor.strings.begin(), tensor.strings.end());
  mlir::ElementsAttr elements =
      tensor.dtype == DType::kStr
          ? graph::strings_attribute(builder.getContext(), tensor.dims, strings)
          : graph::elements_attribute(builder.getContext(), tensor.dtype, tensor.dims,
                                      llvm::ArrayRef(tensor.data, tensor.size), tensor.owner, name);
  llvm::SmallVector<DimExpr> shape(tensor.dims.begin(), tensor.dims.end());
  auto result = graph::TensorType::get(builder.getContext(), tensor.dtype, shape);
  return builder.create<graph::ConstantOp>(result, elements);
}

mlir::Value make_scalar(GraphBuilder& builder, double value, DType dtype) {
  auto type = graph::TensorType::get(builder.getContext(), dtype, llvm::ArrayRef<DimExpr>());
  if (dtype == DType::kStr)
    return builder.create<graph::ConstantOp>(
        type, graph::strings_attribute(builder.getContext(), {}, llvm::StringRef()));
  graph::ConstantArray array(type);
  if (array.is_float())
    array.set(0, value);
  else
    array.set_integer(0, static_cast<int64_t>(value));
  return builder.create<graph::ConstantOp>(type, array.attribute(builder.getContext()));
}

llvm::SmallVector<float> float_elements(graph::ConstantOp op) {
  const DType dtype = mlir::cast<graph::TensorType>(op.getType()).getDtype();
  const Constant constant = graph::constant_of_elements(op.getValue(), dtype);
  llvm::SmallVector<float> numbers;
  const int64_t size = byte_size(dtype);
  for (int64_t at = 0; at < constant.bytes; at += size) {
    float narrow = 0;
    double wide = 0;
    if (size == 4) std::memcpy(&narrow, constant.data + at, 4);
    if (size == 8) std::memcpy(&wide, constant.data + at, 8);
    numbers.push_back(size == 4 ? narrow : static_cast<float>(wide));
  }
  return numbers;
}

}  // namespace scopevm::compiler::frontend
