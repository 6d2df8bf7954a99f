// A network exported from a framework with channels-last images.
func.func @main(%x: !sv.tensor<f32[n, 3, 16, 24]>) -> !sv.tensor<f32[n, 64]> {
  %w = sv.constant {value = dense<0.5> : tensor<32x3x3x3xf32>} : !sv.tensor<f32[32, 3, 3, 3]>
  %v = sv.constant {value = dense<0.25> : tensor<64x32x3x3xf32>} : !sv.tensor<f32[64, 32, 3, 3]>
  %b = sv.constant {value = dense<1.0> : tensor<32xf32>} : !sv.tensor<f32[32]>
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 3, 16, 24]>, !sv.tensor<f32[32, 3, 3, 3]>) -> !sv.tensor<f32[n, 32, 16, 24]>
  %1 = sv.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (!sv.tensor<f32[n, 32, 16, 24]>) -> !sv.tensor<f32[n, 16, 24, 32]>
  %2 = sv.add %1, %b : (!sv.tensor<f32[n, 16, 24, 32]>, !sv.tensor<f32[32]>) -> !sv.tensor<f32[n, 16, 24, 32]>
  %3 = sv.relu %2 : (!sv.tensor<f32[n, 16, 24, 32]>) -> !sv.tensor<f32[n, 16, 24, 32]>
  %4 = sv.add %3, %1 : (!sv.tensor<f32[n, 16, 24, 32]>, !sv.tensor<f32[n, 16, 24, 32]>) -> !sv.tensor<f32[n, 16, 24, 32]>
  %5 = sv.transpose %4 {permutation = array<i64: 0, 3, 1, 2>} : (!sv.tensor<f32[n, 16, 24, 32]>) -> !sv.tensor<f32[n, 32, 16, 24]>
  %6 = sv.conv %5, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 32, 16, 24]>, !sv.tensor<f32[64, 32, 3, 3]>) -> !sv.tensor<f32[n, 64, 16, 24]>
  %7 = sv.transpose %6 {permutation = array<i64: 0, 2, 3, 1>} : (!sv.tensor<f32[n, 64, 16, 24]>) -> !sv.tensor<f32[n, 16, 24, 64]>
  %8 = sv.reduce_mean %7 {axes = array<i64: 1, 2>, keep_dims = false} : (!sv.tensor<f32[n, 16, 24, 64]>) -> !sv.tensor<f32[n, 64]>
  return %8 : !sv.tensor<f32[n, 64]>
}
// f64 images are not blocked.
func.func @axes(%x: !sv.tensor<f64[n, 8, 16, 24]>, %w: !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 8, 18, 30]> {
  %b = sv.constant {value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf64>} : !sv.tensor<f64[8]>
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f64[n, 8, 16, 24]>, !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 8, 16, 24]>
  %1 = sv.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (!sv.tensor<f64[n, 8, 16, 24]>) -> !sv.tensor<f64[n, 16, 24, 8]>
  %2 = sv.add %1, %b : (!sv.tensor<f64[n, 16, 24, 8]>, !sv.tensor<f64[8]>) -> !sv.tensor<f64[n, 16, 24, 8]>
  %3 = sv.pad %2 {pads = #sv.dims<[0, 1, 2, 0, 0, 3, 4, 0]>, mode = "constant"} : (!sv.tensor<f64[n, 16, 24, 8]>) -> !sv.tensor<f64[n, 20, 30, 8]>
  %4 = sv.slice %3 {starts = #sv.dims<[0, 2, 0, 4]>, sizes = #sv.dims<[n, 18, 30, 4]>, steps = array<i64: 1, 1, 1, 1>} : (!sv.tensor<f64[n, 20, 30, 8]>) -> !sv.tensor<f64[n, 18, 30, 4]>
  %5 = sv.concat %4, %4 {axis = 3 : i64} : (!sv.tensor<f64[n, 18, 30, 4]>, !sv.tensor<f64[n, 18, 30, 4]>) -> !sv.tensor<f64[n, 18, 30, 8]>
  %6 = sv.reduce_mean %5 {axes = array<i64: 1, 2>, keep_dims = true} : (!sv.tensor<f64[n, 18, 30, 8]>) -> !sv.tensor<f64[n, 1, 1, 8]>
  %7 = sv.mul %5, %6 : (!sv.tensor<f64[n, 18, 30, 8]>, !sv.tensor<f64[n, 1, 1, 8]>) -> !sv.tensor<f64[n, 18, 30, 8]>
  %8 = sv.transpose %7 {permutation = array<i64: 0, 3, 1, 2>} : (!sv.tensor<f64[n, 18, 30, 8]>) -> !sv.tensor<f64[n, 8, 18, 30]>
  %9 = sv.conv %8, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f64[n, 8, 18, 30]>, !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 8, 18, 30]>
  return %9 : !sv.tensor<f64[n, 8, 18, 30]>
}
func.func @result(%x: !sv.tensor<f64[n, 8, 16, 24]>, %w: !sv.tensor<f64[8, 8, 1, 1]>) -> (!sv.tensor<f64[n, 16, 24, 8]>, !sv.tensor<f64[n, 8, 16, 24]>) {
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f64[n, 8, 16, 24]>, !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 8, 16, 24]>
  %1 = sv.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (!sv.tensor<f64[n, 8, 16, 24]>) -> !sv.tensor<f64[n, 16, 24, 8]>
  %2 = sv.abs %1 : (!sv.tensor<f64[n, 16, 24, 8]>) -> !sv.tensor<f64[n, 16, 24, 8]>
  %3 = sv.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (!sv.tensor<f64[n, 16, 24, 8]>) -> !sv.tensor<f64[n, 8, 16, 24]>
  return %1, %3 : !sv.tensor<f64[n, 16, 24, 8]>, !sv.tensor<f64[n, 8, 16, 24]>
}
func.func @two_results(%x: !sv.tensor<f64[n, 8, 16, 24]>, %w: !sv.tensor<f64[8, 8, 1, 1]>) -> (!sv.tensor<f64[n, 16, 24, 8]>, !sv.tensor<f64[n, 16, 24, 8]>) {
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f64[n, 8, 16, 24]>, !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 8, 16, 24]>
  %1 = sv.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (!sv.tensor<f64[n, 8, 16, 24]>) -> !sv.tensor<f64[n, 16, 24, 8]>
  %2 = sv.abs %1 : (!sv.tensor<f64[n, 16, 24, 8]>) -> !sv.tensor<f64[n, 16, 24, 8]>
  return %1, %2 : !sv.tensor<f64[n, 16, 24, 8]>, !sv.tensor<f64[n, 16, 24, 8]>
}
// The pixel is one element per channel, so its conversions are views.
func.func @pixel(%x: !sv.tensor<f64[n, 8, 1, 1]>, %w: !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 8, 1, 1]> {
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f64[n, 8, 1, 1]>, !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 8, 1, 1]>
  %1 = sv.reshape %0 {dims = #sv.dims<[n, 1, 1, 8]>} : (!sv.tensor<f64[n, 8, 1, 1]>) -> !sv.tensor<f64[n, 1, 1, 8]>
  %2 = sv.abs %1 : (!sv.tensor<f64[n, 1, 1, 8]>) -> !sv.tensor<f64[n, 1, 1, 8]>
  %3 = sv.reshape %2 {dims = #sv.dims<[n, 8, 1, 1]>} : (!sv.tensor<f64[n, 1, 1, 8]>) -> !sv.tensor<f64[n, 8, 1, 1]>
  return %3 : !sv.tensor<f64[n, 8, 1, 1]>
}
func.func @heads(%x: !sv.tensor<f32[n, 12, t, 64]>) -> !sv.tensor<f32[n, 12, t, 64]> {
  %0 = sv.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (!sv.tensor<f32[n, 12, t, 64]>) -> !sv.tensor<f32[n, t, 64, 12]>
  %1 = sv.abs %0 : (!sv.tensor<f32[n, t, 64, 12]>) -> !sv.tensor<f32[n, t, 64, 12]>
  %2 = sv.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (!sv.tensor<f32[n, t, 64, 12]>) -> !sv.tensor<f32[n, 12, t, 64]>
  return %2 : !sv.tensor<f32[n, 12, t, 64]>
}
func.func @norm(%x: !sv.tensor<f64[n, 8, 16, 24]>, %w: !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 16, 24, 8]> {
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f64[n, 8, 16, 24]>, !sv.tensor<f64[8, 8, 1, 1]>) -> !sv.tensor<f64[n, 8, 16, 24]>
  %1 = sv.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (!sv.tensor<f64[n, 8, 16, 24]>) -> !sv.tensor<f64[n, 16, 24, 8]>
  %2 = sv.reduce_mean %1 {axes = array<i64: 3>, keep_dims = true} : (!sv.tensor<f64[n, 16, 24, 8]>) -> !sv.tensor<f64[n, 16, 24, 1]>
  %3 = sv.sub %1, %2 : (!sv.tensor<f64[n, 16, 24, 8]>, !sv.tensor<f64[n, 16, 24, 1]>) -> !sv.tensor<f64[n, 16, 24, 8]>
  return %3 : !sv.tensor<f64[n, 16, 24, 8]>
}
