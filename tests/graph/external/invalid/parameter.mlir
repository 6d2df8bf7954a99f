func.func @f(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  return %x : !sv.tensor<f32[n]>
}
