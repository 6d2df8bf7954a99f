func.func @main(%x: !sv.tensor<f32[n, 64, 8, 8]>) -> (!sv.tensor<f32[n, 64, 8, 8]>, !sv.tensor<f32[n, 5]>) {
  %w = sv.constant {value = dense<0.5> : tensor<64x64x3x3xf32>} : !sv.tensor<f32[64, 64, 3, 3]>
  %v = sv.constant {value = dense<0.25> : tensor<4096x5xf32>} : !sv.tensor<f32[4096, 5]>
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 64, 8, 8]>, !sv.tensor<f32[64, 64, 3, 3]>) -> !sv.tensor<f32[n, 64, 8, 8]>
  %1 = sv.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 64, 8, 8]>, !sv.tensor<f32[64, 64, 3, 3]>) -> !sv.tensor<f32[n, 64, 8, 8]>
  %2 = sv.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 64, 8, 8]>, !sv.tensor<f32[64, 64, 3, 3]>) -> !sv.tensor<f32[n, 64, 8, 8]>
  %3 = sv.reshape %2 {dims = #sv.dims<[n, 4096]>} : (!sv.tensor<f32[n, 64, 8, 8]>) -> !sv.tensor<f32[n, 4096]>
  %4 = sv.matmul %3, %v {transpose_a = false, transpose_b = false} : (!sv.tensor<f32[n, 4096]>, !sv.tensor<f32[4096, 5]>) -> !sv.tensor<f32[n, 5]>
  return %2, %4 : !sv.tensor<f32[n, 64, 8, 8]>, !sv.tensor<f32[n, 5]>
}
