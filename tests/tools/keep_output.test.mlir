// The first output needs exp, the second neg, and the third has no name.
func.func @main(%x: !sv.tensor<f32[n, 4]> {sv.name = "x"})
    -> (!sv.tensor<f32[n, 4]> {sv.name = "a"}, !sv.tensor<f32[n, 4]> {sv.name = "b"},
        !sv.tensor<f32[n, 4]>) {
  %a = sv.exp %x : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %b = sv.neg %x : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %c = sv.abs %x : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  return %a, %b, %c : !sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>
}
