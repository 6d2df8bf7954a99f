func.func @broadcast(%x: !sv.tensor<f32[n, 8, 16]>, %s: !sv.tensor<f32[16]>) -> !sv.tensor<f32[n, 8, 16]> {
  %y = sv.layer_norm %x, %s {axis = 1 : i64, epsilon = 1.0e-3 : f32} : (!sv.tensor<f32[n, 8, 16]>, !sv.tensor<f32[16]>) -> !sv.tensor<f32[n, 8, 16]>
  return %y : !sv.tensor<f32[n, 8, 16]>
}

func.func @symbols(%x: !sv.tensor<f32[3, n]>, %s: !sv.tensor<f32[n]>, %b: !sv.tensor<f32[m]>) -> !sv.tensor<f32[3, n]> {
  %y = sv.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = 1.0e-3 : f32} : (!sv.tensor<f32[3, n]>, !sv.tensor<f32[n]>, !sv.tensor<f32[m]>) -> !sv.tensor<f32[3, n]>
  return %y : !sv.tensor<f32[3, n]>
}
