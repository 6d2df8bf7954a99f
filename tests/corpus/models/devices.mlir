// y = x * x + x. The sum is computed on a second CPU, so that values are copied between devices.
func.func @main(%x: !sv.tensor<f32[n, 3]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 3]> {sv.name = "y"}) {
  %0 = sv.mul %x, %x : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]> loc("scaled")
  %1 = sv.add %0, %x : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]> loc("sum")
  return %1 : !sv.tensor<f32[n, 3]>
}
