#include "compiler/layouts/models/convolution/weights.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/models/constants.h"

namespace scopevm::compiler::layouts {

using graph::kChannelBlock;

mlir::Value blocked_bias(mlir::OpBuilder& builder, mlir::Value bias) {
  const int64_t channels = constant_dims(bias)[0];
  const int64_t blocks = (channels + kChannelBlock - 1) / kChannelBlock;
  return blocked_elements(builder, bias, {blocks, 1, 1, kChannelBlock}, 1, channels, 1);
}

mlir::Value merged_weights(mlir::OpBuilder& builder, mlir::Value weights, int64_t group,
                           int64_t merged) {
  llvm::SmallVector<int64_t> dims = constant_dims(weights);
  const int64_t rows = dims[0], channels = dims[1], taps = dims[2] * dims[3];
  dims[1] = channels * merged;
  return rearranged(builder, weights, dims, [&](const auto* from, auto* to) {
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t first = row / (rows / group) % merged * channels;
      std::copy_n(from + row * channels * taps, channels * taps,
                  to + (row * dims[1] + first) * taps);
    }
  });
}

mlir::Value pixel_weights(mlir::OpBuilder& builder, mlir::Value weights, int64_t pixels,
                          int64_t stride) {
  llvm::SmallVector<int64_t> dims = constant_dims(weights);
  const int64_t width = dims[3], lines = dims[0] * dims[1] * dims[2];
  dims[0] *= pixels;
  dims[3] += (pixels - 1) * stride;
  return rearranged(builder, weights, dims, [&](const auto* from, auto* to) {
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      for (int64_t line = 0; line < lines; ++line)
        std::copy_n(from + line * width, width,
                    to + (pixel * lines + line) * dims[3] + pixel * stride);
  });
}

mlir::Value pixel_bias(mlir::OpBuilder& builder, mlir::Value bias, int64_t pixels) {
  const int64_t rows = constant_dims(bias)[0];
  return rearranged(builder, bias, {1, 1, 1, kChannelBlock}, [&](const auto* from, auto* to) {
    for (int64_t pixel = 0; pixel < pixels; ++pixel) std::copy_n(from, rows, to + pixel * rows);
  });
}

mlir::Value phase_weights(mlir::OpBuilder& builder, mlir::Value weights,
                          llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> pads) {
  const llvm::SmallVector<int64_t> source = constant_dims(weights);
  const int64_t channels = source[0], rows = source[1], kernel[] = {source[2], source[3]};
  int64_t taps[2];
  for (int axis : {0, 1})
    taps[axis] = graph::common_window(strides[axis], pads[axis], kernel[axis]).taps;
  const int64_t phase_rows = (rows + kChannelBlock - 1) / kChannelBlock * kChannelBlock;
  const int64_t dims[] = {strides[0] * strides[1] * phase_rows, channels, taps[0], taps[1]};
  const auto fill_phase = [&](int64_t i, int64_t j, const auto* from, auto* to) {
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
            to[(to_row * channels + channel) * taps[0] * taps[1] + tap] =
                from[(channel * rows + row) * kernel[0] * kernel[1] + element];
          }
  };
  return rearranged(builder, weights, dims, [&](const auto* from, auto* to) {
    for (int64_t i = 0; i < strides[0]; ++i)
      for (int64_t j = 0; j < strides[1]; ++j) fill_phase(i, j, from, to);
  });
}

}  // namespace scopevm::compiler::layouts
