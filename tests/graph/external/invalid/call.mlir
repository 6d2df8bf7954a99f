func.func @f(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.call @f(%x) : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
}
