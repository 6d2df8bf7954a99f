func.func @main(%x: !sv.tensor<f32[n, 64, 32, 32]>) -> !sv.tensor<f32[n, 64, 32, 32]> {
  %w = sv.constant {value = dense<0.5> : tensor<64x64x3x3xf32>} : !sv.tensor<f32[64, 64, 3, 3]>
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 64, 32, 32]>, !sv.tensor<f32[64, 64, 3, 3]>) -> !sv.tensor<f32[n, 64, 32, 32]>
  %1 = sv.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (!sv.tensor<f32[n, 64, 32, 32]>) -> !sv.tensor<f32[n, 32, 32, 64]>
  %2 = sv.softmax %1 {axis = 3 : i64} : (!sv.tensor<f32[n, 32, 32, 64]>) -> !sv.tensor<f32[n, 32, 32, 64]>
  %3 = sv.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (!sv.tensor<f32[n, 32, 32, 64]>) -> !sv.tensor<f32[n, 64, 32, 32]>
  %4 = sv.conv %3, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 64, 32, 32]>, !sv.tensor<f32[64, 64, 3, 3]>) -> !sv.tensor<f32[n, 64, 32, 32]>
  return %4 : !sv.tensor<f32[n, 64, 32, 32]>
}
