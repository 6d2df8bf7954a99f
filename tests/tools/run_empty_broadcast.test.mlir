func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "x"}, %none: !sv.tensor<f32[2, 0]> {sv.name = "none"})
    -> (!sv.tensor<f32[2, 0]> {sv.name = "y"}) {
  %0 = sv.max %none, %x : (!sv.tensor<f32[2, 0]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[2, 0]>
  return %0 : !sv.tensor<f32[2, 0]>
}
