#include "compiler/layouts/models/constants.h"

#include <numeric>

#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/values/elements.h"
#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::layouts {

using graph::type_of;
using schedule::kChannelBlock;

bool is_constant(mlir::Value value) {
  return value.getDefiningOp<graph::ConstantOp>() && !graph::has_scope(value.getType());
}

llvm::SmallVector<int64_t> constant_dims(mlir::Value value) {
  llvm::SmallVector<int64_t> dims;
  for (DimExpr dim : type_of(value).getShape()) dims.push_back(*dim.as_constant());
  return dims;
}

mlir::Value rearranged(mlir::OpBuilder& builder, mlir::Value constant, llvm::ArrayRef<int64_t> dims,
                       llvm::function_ref<void(const float* from, float* to)> fill) {
  const Constant source = graph::constant_of_elements(
      constant.getDefiningOp<graph::ConstantOp>().getValue(), DType::kF32);
  std::vector<float> elements(
      std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies()));
  fill(reinterpret_cast<const float*>(source.data), elements.data());
  const llvm::SmallVector<DimExpr> shape(dims.begin(), dims.end());
  const auto type = mlir::RankedTensorType::get(dims, builder.getF32Type());
  return builder.create<graph::ConstantOp>(
      constant.getLoc(), type_of(constant).withShape(shape),
      mlir::DenseElementsAttr::get(type, llvm::ArrayRef(elements)));
}

mlir::Value blocked_elements(mlir::OpBuilder& builder, mlir::Value constant,
                             llvm::ArrayRef<int64_t> dims, int64_t outer, int64_t channels,
                             int64_t inner) {
  const int64_t blocks = (channels + kChannelBlock - 1) / kChannelBlock;
  return rearranged(builder, constant, dims, [&](const float* from, float* to) {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < inner; ++i)
          to[((o * blocks + c / kChannelBlock) * inner + i) * kChannelBlock + c % kChannelBlock] =
              from[(o * channels + c) * inner + i];
  });
}

}  // namespace scopevm::compiler::layouts
