// A convolution of an image with 3 channels, ops between two convolutions, and a result.
func.func @main(%x: !sv.tensor<f32[n, 3, 32, 32]>) -> !sv.tensor<f32[n, 72, 16, 16]> {
  %w = sv.constant {value = dense<0.5> : tensor<32x3x3x3xf32>} : !sv.tensor<f32[32, 3, 3, 3]>
  %b = sv.constant {value = dense<1.0> : tensor<32xf32>} : !sv.tensor<f32[32]>
  %v = sv.constant {value = dense<0.25> : tensor<72x32x5x5xf32>} : !sv.tensor<f32[72, 32, 5, 5]>
  %s = sv.constant {value = dense<3.0> : tensor<32x1x1xf32>} : !sv.tensor<f32[32, 1, 1]>
  %0 = sv.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 3, 32, 32]>, !sv.tensor<f32[32, 3, 3, 3]>, !sv.tensor<f32[32]>) -> !sv.tensor<f32[n, 32, 32, 32]>
  %1 = sv.mul %0, %s : (!sv.tensor<f32[n, 32, 32, 32]>, !sv.tensor<f32[32, 1, 1]>) -> !sv.tensor<f32[n, 32, 32, 32]>
  %2 = sv.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!sv.tensor<f32[n, 32, 32, 32]>) -> !sv.tensor<f32[n, 32, 16, 16]>
  %3 = sv.conv %2, %v {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 32, 16, 16]>, !sv.tensor<f32[72, 32, 5, 5]>) -> !sv.tensor<f32[n, 72, 16, 16]>
  return %3 : !sv.tensor<f32[n, 72, 16, 16]>
}
