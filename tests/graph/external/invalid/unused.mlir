func.func @f(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %1 = sv.exp %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %1 : !sv.tensor<f32[n]>
}
