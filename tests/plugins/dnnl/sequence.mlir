// A convolution, and an input that compile --tune cannot generate.
func.func @main(%list: !sv.list<sequence f32[?]> {sv.name = "list"}, %x: !sv.tensor<f32[n, 3, 8, 8]> {sv.name = "x"})
    -> (!sv.tensor<f32[n, 16, 8, 8]> {sv.name = "y"}, !sv.list<sequence f32[?]> {sv.name = "same"}) {
  %w = sv.constant {value = dense<0.5> : tensor<16x3x3x3xf32>} : !sv.tensor<f32[16, 3, 3, 3]>
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : (!sv.tensor<f32[n, 3, 8, 8]>, !sv.tensor<f32[16, 3, 3, 3]>) -> !sv.tensor<f32[n, 16, 8, 8]>
  return %0, %list : !sv.tensor<f32[n, 16, 8, 8]>, !sv.list<sequence f32[?]>
}
