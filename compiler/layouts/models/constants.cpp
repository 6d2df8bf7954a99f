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

mlir::Value filled(mlir::OpBuilder& builder, mlir::Value constant, llvm::ArrayRef<int64_t> dims,
                   llvm::function_ref<void(const void* from, void* to)> fill) {
  const mlir::ElementsAttr given = constant.getDefiningOp<graph::ConstantOp>().getValue();
  const DType dtype = type_of(constant).getDtype();
  const Constant source = graph::constant_of_elements(given, dtype);
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies());
  std::vector<uint32_t> words(
      llvm::divideCeil(static_cast<uint64_t>(count) * byte_size(dtype), sizeof(uint32_t)));
  fill(source.data, words.data());
  const llvm::SmallVector<DimExpr> shape(dims.begin(), dims.end());
  const auto type = mlir::RankedTensorType::get(dims, given.getElementType());
  const llvm::ArrayRef bytes(reinterpret_cast<const char*>(words.data()),
                             static_cast<size_t>(count) * byte_size(dtype));
  return builder.create<graph::ConstantOp>(constant.getLoc(), type_of(constant).withShape(shape),
                                           mlir::DenseElementsAttr::getFromRawBuffer(type, bytes));
}

mlir::Value blocked_elements(mlir::OpBuilder& builder, mlir::Value constant,
                             llvm::ArrayRef<int64_t> dims, int64_t outer, int64_t channels,
                             int64_t inner) {
  const int64_t blocks = (channels + kChannelBlock - 1) / kChannelBlock;
  return rearranged(builder, constant, dims, [&](const auto* from, auto* to) {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < inner; ++i)
          to[((o * blocks + c / kChannelBlock) * inner + i) * kChannelBlock + c % kChannelBlock] =
              from[(o * channels + c) * inner + i];
  });
}

}  // namespace scopevm::compiler::layouts
