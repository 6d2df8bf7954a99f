// Ops on channels between convolutions.
func.func @main(%x: !sv.tensor<f32[n, 3, 32, 32]>) -> (!sv.tensor<f32[n, 64, 32, 32]>, !sv.tensor<f32[n, 1, 32, 32]>) {
  %w0 = sv.constant {value = dense<0.5> : tensor<24x3x3x3xf32>} : !sv.tensor<f32[24, 3, 3, 3]>
  %w1 = sv.constant {value = dense<0.25> : tensor<24x24x1x1xf32>} : !sv.tensor<f32[24, 24, 1, 1]>
  %w2 = sv.constant {value = dense<0.125> : tensor<64x32x3x3xf32>} : !sv.tensor<f32[64, 32, 3, 3]>
  %0 = sv.conv %x, %w0 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 3, 32, 32]>, !sv.tensor<f32[24, 3, 3, 3]>) -> !sv.tensor<f32[n, 24, 32, 32]>
  %1 = sv.conv %0, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 24, 32, 32]>, !sv.tensor<f32[24, 24, 1, 1]>) -> !sv.tensor<f32[n, 24, 32, 32]>
  %2 = sv.concat %0, %1 {axis = 1 : i64} : (!sv.tensor<f32[n, 24, 32, 32]>, !sv.tensor<f32[n, 24, 32, 32]>) -> !sv.tensor<f32[n, 48, 32, 32]>
  %3 = sv.reduce_mean %2 {axes = array<i64: 1>, keep_dims = true} : (!sv.tensor<f32[n, 48, 32, 32]>) -> !sv.tensor<f32[n, 1, 32, 32]>
  %4 = sv.slice %2 {starts = #sv.dims<[0, 16, 0, 0]>, sizes = #sv.dims<[n, 32, 32, 32]>, steps = array<i64: 1, 1, 1, 1>} : (!sv.tensor<f32[n, 48, 32, 32]>) -> !sv.tensor<f32[n, 32, 32, 32]>
  %5 = sv.slice %2 {starts = #sv.dims<[0, 8, 0, 0]>, sizes = #sv.dims<[n, 32, 32, 32]>, steps = array<i64: 1, 1, 1, 1>} : (!sv.tensor<f32[n, 48, 32, 32]>) -> !sv.tensor<f32[n, 32, 32, 32]>
  %6 = sv.conv %4, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 32, 32, 32]>, !sv.tensor<f32[64, 32, 3, 3]>) -> !sv.tensor<f32[n, 64, 32, 32]>
  %7 = sv.conv %5, %w2 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 32, 32, 32]>, !sv.tensor<f32[64, 32, 3, 3]>) -> !sv.tensor<f32[n, 64, 32, 32]>
  %8 = sv.add %6, %7 : (!sv.tensor<f32[n, 64, 32, 32]>, !sv.tensor<f32[n, 64, 32, 32]>) -> !sv.tensor<f32[n, 64, 32, 32]>
  return %8, %3 : !sv.tensor<f32[n, 64, 32, 32]>, !sv.tensor<f32[n, 1, 32, 32]>
}
