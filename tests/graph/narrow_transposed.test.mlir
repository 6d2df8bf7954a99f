// A transposed convolution of an image with 32 channels.
func.func @main(%x: !sv.tensor<f32[n, 3, 32, 32]>) -> !sv.tensor<f32[n, 1, 64, 64]> {
  %w = sv.constant {value = dense<0.5> : tensor<32x3x3x3xf32>} : !sv.tensor<f32[32, 3, 3, 3]>
  %v = sv.constant {value = dense<0.125> : tensor<32x32x3x3xf32>} : !sv.tensor<f32[32, 32, 3, 3]>
  %u = sv.constant {value = dense<0.25> : tensor<32x1x2x2xf32>} : !sv.tensor<f32[32, 1, 2, 2]>
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 3, 32, 32]>, !sv.tensor<f32[32, 3, 3, 3]>) -> !sv.tensor<f32[n, 32, 32, 32]>
  %1 = sv.conv %0, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 32, 32, 32]>, !sv.tensor<f32[32, 32, 3, 3]>) -> !sv.tensor<f32[n, 32, 32, 32]>
  %2 = sv.conv_transpose %1, %u {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>, group = 1 : i64} : (!sv.tensor<f32[n, 32, 32, 32]>, !sv.tensor<f32[32, 1, 2, 2]>) -> !sv.tensor<f32[n, 1, 64, 64]>
  return %2 : !sv.tensor<f32[n, 1, 64, 64]>
}
