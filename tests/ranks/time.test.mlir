// A sum on rank 0, and a product of it on rank 1.
func.func @main(%x: !sv.tensor<f32[n, 4096]>) -> !sv.tensor<f32[n, 4096]> {
  %v = sv.constant {value = dense<0.5> : tensor<4096xf32>} : !sv.tensor<f32[4096]>
  %w = sv.constant {value = dense<0.25> : tensor<4096xf32>} : !sv.tensor<f32[4096]>
  %0 = sv.add %x, %v : (!sv.tensor<f32[n, 4096]>, !sv.tensor<f32[4096]>) -> !sv.tensor<f32[n, 4096]>
  %1 = sv.mul %0, %w : (!sv.tensor<f32[n, 4096]>, !sv.tensor<f32[4096]>) -> !sv.tensor<f32[n, 4096]>
  return %1 : !sv.tensor<f32[n, 4096]>
}
