func.func @main(%x: !sv.tensor<f32[n, 16, 8, 8]> {sv.name = "x"},
                %w: !sv.tensor<f32[32, 16, 3, 3]> {sv.name = "w"})
    -> (!sv.tensor<f32[n, 32, 6, 6]> {sv.name = "y"}) {
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>, group = 1}
      : (!sv.tensor<f32[n, 16, 8, 8]>, !sv.tensor<f32[32, 16, 3, 3]>) -> !sv.tensor<f32[n, 32, 6, 6]>
  return %0 : !sv.tensor<f32[n, 32, 6, 6]>
}
