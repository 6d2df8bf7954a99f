func.func @f(%x: !sv.tensor<f32[2]>) -> !sv.tensor<f32[2]> {
  %0 = sv.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : !sv.tensor<f32[2]>
  %1 = sv.add %x, %0 : (!sv.tensor<f32[2]>, !sv.tensor<f32[2]>) -> !sv.tensor<f32[2]>
  return %1 : !sv.tensor<f32[2]>
}
