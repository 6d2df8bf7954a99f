// Constants: see constants.h.
#include "compiler/frontend/constants.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace scopevm::frontend {
namespace {

constexpr int64_t kMaxDenseElements = 64;

mlir::Type element_type(mlir::Builder& builder, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return builder.getI1Type();
    case DType::kF16:
      return builder.getF16Type();
    case DType::kBF16:
      return builder.getBF16Type();
    case DType::kF32:
      return builder.getF32Type();
    case DType::kF64:
      return builder.getF64Type();
    default: {
      unsigned width = static_cast<unsigned>(8 * byte_size(dtype));
      bool is_unsigned = dtype >= DType::kU8 && dtype <= DType::kU64;
      return is_unsigned ? builder.getIntegerType(width, /*isSigned=*/false)
                         : builder.getIntegerType(width);
    }
  }
}

mlir::ElementsAttr dense(mlir::RankedTensorType type, const TensorBytes& tensor) {
  if (tensor.dtype == DType::kBool) {
    llvm::SmallVector<bool> values;
    for (size_t i = 0; i < tensor.size; ++i) values.push_back(tensor.data[i] != 0);
    return mlir::DenseElementsAttr::get(type, values);
  }
  return mlir::DenseElementsAttr::getFromRawBuffer(type, llvm::ArrayRef(tensor.data, tensor.size));
}

mlir::ElementsAttr shared(mlir::RankedTensorType type, const TensorBytes& tensor,
                          llvm::StringRef name) {
  auto owner = tensor.owner;
  mlir::AsmResourceBlob blob(
      llvm::ArrayRef(tensor.data, tensor.size), static_cast<size_t>(byte_size(tensor.dtype)),
      [owner](void*, size_t, size_t) {}, /*dataIsMutable=*/false);
  return mlir::DenseResourceElementsAttr::get(type, name.empty() ? "constant" : name,
                                              std::move(blob));
}

}  // namespace

mlir::Value make_constant(mlir::OpBuilder& builder, mlir::Location location,
                          const TensorBytes& tensor, llvm::StringRef name) {
  auto type = mlir::RankedTensorType::get(tensor.dims, element_type(builder, tensor.dtype));
  mlir::ElementsAttr elements = type.getNumElements() <= kMaxDenseElements
                                    ? dense(type, tensor)
                                    : shared(type, tensor, name);
  llvm::SmallVector<DimExpr> shape(tensor.dims.begin(), tensor.dims.end());
  auto result = graph::TensorType::get(builder.getContext(), tensor.dtype, shape);
  return builder.create<graph::ConstantOp>(location, result, elements);
}

mlir::Value make_scalar(mlir::OpBuilder& builder, mlir::Location location, double value,
                        DType dtype) {
  mlir::Type element = element_type(builder, dtype);
  auto type = mlir::RankedTensorType::get({}, element);
  mlir::Attribute scalar;
  if (mlir::isa<mlir::FloatType>(element))
    scalar = builder.getFloatAttr(element, value);
  else
    scalar = builder.getIntegerAttr(element, static_cast<int64_t>(value));
  auto result = graph::TensorType::get(builder.getContext(), dtype, llvm::ArrayRef<DimExpr>());
  return builder.create<graph::ConstantOp>(location, result,
                                           mlir::DenseElementsAttr::get(type, scalar));
}

}  // namespace scopevm::frontend
