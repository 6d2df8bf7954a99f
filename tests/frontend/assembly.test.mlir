func.func @main(%x: !sv.tensor<f32[n, 3, "2*w+1"]> {sv.name = "image"}, %y: !sv.tensor<f32[3, 1]>)
    -> (!sv.tensor<f32[n, 3, "2*w+1"]> {sv.name = "scaled"}) {
  %0 = sv.mul %x, %y : (!sv.tensor<f32[n, 3, "2*w+1"]>, !sv.tensor<f32[3, 1]>) -> !sv.tensor<f32[n, 3, "2*w+1"]>
  return %0 : !sv.tensor<f32[n, 3, "2*w+1"]>
}
