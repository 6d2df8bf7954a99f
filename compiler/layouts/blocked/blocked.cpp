// Builds the blocked forms; see the header.
#include "compiler/layouts/blocked/blocked.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/values/elements.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::kChannelBlock;
using graph::TensorType;
using graph::type_of;

// Whether an elementwise op on blocked images can have an operand or result of this type.
bool is_elementwise(TensorType type) {
  return (type.getDtype() == DType::kF32 || type.getDtype() == DType::kBool) &&
         !graph::has_scope(type);
}

// A constant of `dims` whose blocks of channels are `source`, [outer][channels][inner].
mlir::Value blocked_elements(mlir::OpBuilder& builder, graph::ConstantOp constant,
                             llvm::ArrayRef<int64_t> dims, int64_t outer, int64_t channels,
                             int64_t inner) {
  const Constant source = graph::constant_of_elements(constant.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  const int64_t blocks = (channels + kChannelBlock - 1) / kChannelBlock;
  std::vector<float> elements(outer * blocks * inner * kChannelBlock);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < inner; ++i)
        elements[((o * blocks + c / kChannelBlock) * inner + i) * kChannelBlock +
                 c % kChannelBlock] = from[(o * channels + c) * inner + i];
  return constant_of(builder, constant, dims, elements);
}

}  // namespace

llvm::SmallVector<DimExpr> padded_dims(TensorType type) {
  llvm::SmallVector<DimExpr> dims(4 - type.getRank(), DimExpr(1));
  dims.append(type.getShape().begin(), type.getShape().end());
  return dims;
}

mlir::Value reshape(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<DimExpr> dims) {
  return builder.create<graph::ReshapeOp>(x.getLoc(), type_of(x).withShape(dims), x,
                                          graph::DimsAttr::get(builder.getContext(), dims));
}

mlir::Value transpose(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<int64_t> order) {
  llvm::SmallVector<DimExpr> dims;
  for (int64_t axis : order) dims.push_back(type_of(x).getDim(axis));
  return builder.create<graph::TransposeOp>(x.getLoc(), type_of(x).withShape(dims), x,
                                            builder.getDenseI64ArrayAttr(order));
}

mlir::Value first_elements(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<DimExpr> dims) {
  if (type_of(x).getShape() == dims) return x;
  const llvm::SmallVector<DimExpr> zeros(dims.size(), DimExpr(0));
  const llvm::SmallVector<int64_t> ones(dims.size(), 1);
  return builder.create<graph::SliceOp>(
      x.getLoc(), type_of(x).withShape(dims), x, graph::DimsAttr::get(builder.getContext(), zeros),
      graph::DimsAttr::get(builder.getContext(), dims), builder.getDenseI64ArrayAttr(ones));
}

mlir::Value constant_of(mlir::OpBuilder& builder, graph::ConstantOp constant,
                        llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> elements) {
  const llvm::SmallVector<DimExpr> shape(dims.begin(), dims.end());
  const auto type = mlir::RankedTensorType::get(dims, builder.getF32Type());
  return builder.create<graph::ConstantOp>(constant.getLoc(),
                                           type_of(constant.getResult()).withShape(shape),
                                           mlir::DenseElementsAttr::get(type, elements));
}

std::optional<int64_t> image_channels(mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  return tensor && tensor.getDtype() == DType::kF32 ? elementwise_channels(type) : std::nullopt;
}

std::optional<int64_t> elementwise_channels(mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  if (!tensor || tensor.getRank() != 4 || !is_elementwise(tensor)) return std::nullopt;
  const std::optional<int64_t> channels = tensor.getDim(1).as_constant();
  return channels && *channels >= 1 ? channels : std::nullopt;
}

TensorType blocked_type(TensorType type) {
  return type.withShape({type.getDim(0), ceildiv(type.getDim(1), kChannelBlock), type.getDim(2),
                         type.getDim(3), kChannelBlock});
}

bool is_pixel(TensorType type) {
  return type.getDim(2).is_constant(1) && type.getDim(3).is_constant(1);
}

Operand operand_kind(mlir::Value operand, TensorType image) {
  const TensorType type = type_of(operand);
  if (type.getRank() > 4 || !is_elementwise(type)) return Operand::kOther;
  const llvm::SmallVector<DimExpr> dims = padded_dims(type);
  if (dims[1].is_constant(1)) return Operand::kSame;
  if (dims[1] != image.getDim(1)) return Operand::kOther;
  if (operand.getDefiningOp<graph::ConstantOp>() && type.isStatic())
    return type.getDtype() == DType::kF32 ? Operand::kConstant : Operand::kOther;
  return type.getRank() == 4 ? Operand::kImage : Operand::kOther;
}

mlir::Value blocked_constant(mlir::OpBuilder& builder, graph::ConstantOp constant) {
  const llvm::SmallVector<DimExpr> dims = padded_dims(type_of(constant.getResult()));
  const auto dim = [&](size_t axis) { return *dims[axis].as_constant(); };
  const int64_t blocks = (dim(1) + kChannelBlock - 1) / kChannelBlock;
  return blocked_elements(builder, constant, {dim(0), blocks, dim(2), dim(3), kChannelBlock},
                          dim(0), dim(1), dim(2) * dim(3));
}

mlir::Value blocked_bias(mlir::OpBuilder& builder, graph::ConstantOp constant) {
  const int64_t channels = *type_of(constant.getResult()).getDim(0).as_constant();
  const int64_t blocks = (channels + kChannelBlock - 1) / kChannelBlock;
  return blocked_elements(builder, constant, {blocks, 1, 1, kChannelBlock}, 1, channels, 1);
}

mlir::Value merged_weights(mlir::OpBuilder& builder, graph::ConstantOp weights, int64_t group,
                           int64_t merged) {
  const Constant source = graph::constant_of_elements(weights.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  llvm::SmallVector<int64_t> dims(source.dims.begin(), source.dims.end());
  const int64_t rows = dims[0], channels = dims[1], taps = dims[2] * dims[3];
  dims[1] = channels * merged;
  std::vector<float> elements(rows * dims[1] * taps);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row / (rows / group) % merged * channels;
    std::copy_n(from + row * channels * taps, channels * taps,
                elements.begin() + (row * dims[1] + first) * taps);
  }
  return constant_of(builder, weights, dims, elements);
}

mlir::Value pixel_weights(mlir::OpBuilder& builder, graph::ConstantOp weights, int64_t pixels,
                          int64_t stride) {
  const Constant source = graph::constant_of_elements(weights.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  const int64_t rows = source.dims[0], width = source.dims[3];
  const int64_t lines = source.dims[1] * source.dims[2];  // of a row
  const int64_t dims[] = {pixels * rows, source.dims[1], source.dims[2],
                          width + (pixels - 1) * stride};
  std::vector<float> elements(dims[0] * lines * dims[3]);
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int64_t line = 0; line < rows * lines; ++line)
      std::copy_n(from + line * width, width,
                  elements.begin() + (pixel * rows * lines + line) * dims[3] + pixel * stride);
  return constant_of(builder, weights, dims, elements);
}

mlir::Value pixel_bias(mlir::OpBuilder& builder, graph::ConstantOp constant, int64_t pixels) {
  const Constant source = graph::constant_of_elements(constant.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  const int64_t rows = source.dims[0], dims[] = {1, 1, 1, kChannelBlock};
  std::vector<float> elements(kChannelBlock);
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    std::copy_n(from, rows, elements.begin() + pixel * rows);
  return constant_of(builder, constant, dims, elements);
}

mlir::Value phase_weights(mlir::OpBuilder& builder, graph::ConstantOp weights,
                          llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> pads) {
  const Constant source = graph::constant_of_elements(weights.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  const int64_t channels = source.dims[0], rows = source.dims[1];
  const int64_t kernel[] = {source.dims[2], source.dims[3]};
  int64_t taps[2];
  for (int axis : {0, 1})
    taps[axis] = graph::common_window(strides[axis], pads[axis], kernel[axis]).taps;
  const int64_t phase_rows = (rows + kChannelBlock - 1) / kChannelBlock * kChannelBlock;
  const int64_t dims[] = {strides[0] * strides[1] * phase_rows, channels, taps[0], taps[1]};
  std::vector<float> elements(dims[0] * channels * taps[0] * taps[1]);
  for (int64_t i = 0; i < strides[0]; ++i)
    for (int64_t j = 0; j < strides[1]; ++j) {
      const graph::PhaseTaps y = graph::phase_taps(i, strides[0], pads[0], kernel[0]),
                             x = graph::phase_taps(j, strides[1], pads[1], kernel[1]);
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t channel = 0; channel < channels; ++channel)
          for (int64_t v = 0; v < y.count; ++v)
            for (int64_t u = 0; u < x.count; ++u) {
              const int64_t to_row = (i * strides[1] + j) * phase_rows + row;
              const int64_t tap = (taps[0] - 1 - v) * taps[1] + taps[1] - 1 - u;
              const int64_t element =
                  (y.first + v * strides[0]) * kernel[1] + x.first + u * strides[1];
              elements[(to_row * channels + channel) * taps[0] * taps[1] + tap] =
                  from[(channel * rows + row) * kernel[0] * kernel[1] + element];
            }
    }
  return constant_of(builder, weights, dims, elements);
}

mlir::Value blocked_rows(mlir::OpBuilder& builder, graph::ConstantOp weights, int64_t channels,
                         int64_t axis) {
  const Constant source = graph::constant_of_elements(weights.getValue(), DType::kF32);
  const auto* from = reinterpret_cast<const float*>(source.data);
  const int64_t dims[] = {source.dims[0], source.dims[1]};
  const int64_t pixels = dims[axis] / channels;
  if (axis == 1) return blocked_elements(builder, weights, dims, dims[0], channels, pixels);
  std::vector<float> elements(dims[0] * dims[1]);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      const int64_t row = (c / kChannelBlock * pixels + pixel) * kChannelBlock + c % kChannelBlock;
      std::copy_n(from + (c * pixels + pixel) * dims[1], dims[1], elements.begin() + row * dims[1]);
    }
  return constant_of(builder, weights, dims, elements);
}

mlir::Value same_for_channels(mlir::OpBuilder& builder, mlir::Value value) {
  const TensorType type = type_of(value);
  if (llvm::all_of(type.getShape(), [](DimExpr dim) { return dim.is_constant(1); })) return value;
  llvm::SmallVector<DimExpr> dims(type.getShape());
  dims.push_back(1);
  return reshape(builder, value, dims);
}

mlir::Value to_blocked(mlir::OpBuilder& builder, mlir::Value image) {
  const TensorType type = type_of(image), blocked = blocked_type(type);
  const int64_t channels = *type.getDim(1).as_constant();
  const DimExpr blocks = blocked.getDim(1);
  if (const int64_t missing = (kChannelBlock - channels % kChannelBlock) % kChannelBlock) {
    llvm::SmallVector<DimExpr> pads(8, DimExpr(0));
    pads[5] = missing;
    image = builder.create<graph::PadOp>(
        image.getLoc(),
        type.withShape(
            {type.getDim(0), blocks * DimExpr(kChannelBlock), type.getDim(2), type.getDim(3)}),
        image, mlir::Value(), graph::DimsAttr::get(builder.getContext(), pads),
        builder.getStringAttr("constant"));
  }
  if (is_pixel(type)) return reshape(builder, image, blocked.getShape());
  image = reshape(builder, image,
                  {type.getDim(0), blocks, kChannelBlock, type.getDim(2), type.getDim(3)});
  return transpose(builder, image, {0, 1, 3, 4, 2});
}

mlir::Value to_plain(mlir::OpBuilder& builder, mlir::Value blocked, TensorType type) {
  const DimExpr channels = blocked_type(type).getDim(1) * DimExpr(kChannelBlock);
  if (!is_pixel(type)) blocked = transpose(builder, blocked, {0, 1, 4, 2, 3});
  const mlir::Value image =
      reshape(builder, blocked, {type.getDim(0), channels, type.getDim(2), type.getDim(3)});
  return first_elements(builder, image, type.getShape());
}

}  // namespace scopevm::compiler::layouts
