// A convolution with four output blocks, whose kernel computes one block at a time. Winograd's
// algorithm is possible.
func.func @main(%x: !sv.tensor<f32[1, 64, 40, 40]> {sv.name = "x"}) -> (!sv.tensor<f32[1, 64, 40, 40]> {sv.name = "y"}) {
  %w = sv.constant {value = dense<0.5> : tensor<64x64x3x3xf32>} : !sv.tensor<f32[64, 64, 3, 3]>
  %y = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[1, 64, 40, 40]>, !sv.tensor<f32[64, 64, 3, 3]>) -> !sv.tensor<f32[1, 64, 40, 40]>
  return %y : !sv.tensor<f32[1, 64, 40, 40]>
}
