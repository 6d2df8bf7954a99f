// A convolution with two output blocks, for which Winograd's algorithm is possible.
func.func @main(%x: !sv.tensor<f32[n, 32, h, w]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 32, h, w]> {sv.name = "y"}) {
  %w = sv.constant {value = dense<0.5> : tensor<32x32x3x3xf32>} : !sv.tensor<f32[32, 32, 3, 3]>
  %y = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 32, h, w]>, !sv.tensor<f32[32, 32, 3, 3]>) -> !sv.tensor<f32[n, 32, h, w]>
  return %y : !sv.tensor<f32[n, 32, h, w]>
}
