// A convolution with 13 groups of 8 channels, between two others.
func.func @main(%x: !sv.tensor<f32[n, 64, 28, 28]>) -> !sv.tensor<f32[n, 64, 28, 28]> {
  %w0 = sv.constant {value = dense<0.5> : tensor<104x64x3x3xf32>} : !sv.tensor<f32[104, 64, 3, 3]>
  %w1 = sv.constant {value = dense<0.25> : tensor<104x8x3x3xf32>} : !sv.tensor<f32[104, 8, 3, 3]>
  %w2 = sv.constant {value = dense<0.125> : tensor<64x104x3x3xf32>} : !sv.tensor<f32[64, 104, 3, 3]>
  %0 = sv.conv %x, %w0 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 64, 28, 28]>, !sv.tensor<f32[104, 64, 3, 3]>) -> !sv.tensor<f32[n, 104, 28, 28]>
  %1 = sv.conv %0, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 13 : i64} : (!sv.tensor<f32[n, 104, 28, 28]>, !sv.tensor<f32[104, 8, 3, 3]>) -> !sv.tensor<f32[n, 104, 28, 28]>
  %2 = sv.conv %1, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 104, 28, 28]>, !sv.tensor<f32[64, 104, 3, 3]>) -> !sv.tensor<f32[n, 64, 28, 28]>
  return %2 : !sv.tensor<f32[n, 64, 28, 28]>
}
