// No axis has a known size.
func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.relu %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
}
