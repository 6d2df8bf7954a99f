// An inverted residual block: an expansion, a convolution with one group per channel, a projection.
func.func @main(%x: !sv.tensor<f32[n, 16, 112, 112]>) -> !sv.tensor<f32[n, 24, 56, 56]> {
  %u = sv.constant {value = dense<0.5> : tensor<96x16x1x1xf32>} : !sv.tensor<f32[96, 16, 1, 1]>
  %v = sv.constant {value = dense<0.5> : tensor<96x1x3x3xf32>} : !sv.tensor<f32[96, 1, 3, 3]>
  %w = sv.constant {value = dense<0.5> : tensor<24x96x1x1xf32>} : !sv.tensor<f32[24, 96, 1, 1]>
  %e = sv.conv %x, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 16, 112, 112]>, !sv.tensor<f32[96, 16, 1, 1]>) -> !sv.tensor<f32[n, 96, 112, 112]>
  %er = sv.relu %e : (!sv.tensor<f32[n, 96, 112, 112]>) -> !sv.tensor<f32[n, 96, 112, 112]>
  %d = sv.conv %er, %v {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 96 : i64} : (!sv.tensor<f32[n, 96, 112, 112]>, !sv.tensor<f32[96, 1, 3, 3]>) -> !sv.tensor<f32[n, 96, 56, 56]>
  %dr = sv.relu %d : (!sv.tensor<f32[n, 96, 56, 56]>) -> !sv.tensor<f32[n, 96, 56, 56]>
  %p = sv.conv %dr, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 96, 56, 56]>, !sv.tensor<f32[24, 96, 1, 1]>) -> !sv.tensor<f32[n, 24, 56, 56]>
  return %p : !sv.tensor<f32[n, 24, 56, 56]>
}
