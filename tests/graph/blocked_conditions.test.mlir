// A leaky ReLU between two convolutions.
func.func @main(%x: !sv.tensor<f32[n, 32, 28, 28]>) -> !sv.tensor<f32[n, 64, 28, 28]> {
  %w0 = sv.constant {value = dense<0.5> : tensor<64x32x3x3xf32>} : !sv.tensor<f32[64, 32, 3, 3]>
  %w1 = sv.constant {value = dense<0.25> : tensor<64x64x3x3xf32>} : !sv.tensor<f32[64, 64, 3, 3]>
  %zero = sv.constant {value = dense<0.0> : tensor<f32>} : !sv.tensor<f32[]>
  %slope = sv.constant {value = dense<0.1> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.conv %x, %w0 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 32, 28, 28]>, !sv.tensor<f32[64, 32, 3, 3]>) -> !sv.tensor<f32[n, 64, 28, 28]>
  %1 = sv.mul %0, %slope : (!sv.tensor<f32[n, 64, 28, 28]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, 64, 28, 28]>
  %2 = sv.less %0, %zero : (!sv.tensor<f32[n, 64, 28, 28]>, !sv.tensor<f32[]>) -> !sv.tensor<bool[n, 64, 28, 28]>
  %3 = sv.select %2, %1, %0 : (!sv.tensor<bool[n, 64, 28, 28]>, !sv.tensor<f32[n, 64, 28, 28]>, !sv.tensor<f32[n, 64, 28, 28]>) -> !sv.tensor<f32[n, 64, 28, 28]>
  %4 = sv.conv %3, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 64, 28, 28]>, !sv.tensor<f32[64, 64, 3, 3]>) -> !sv.tensor<f32[n, 64, 28, 28]>
  return %4 : !sv.tensor<f32[n, 64, 28, 28]>
}
