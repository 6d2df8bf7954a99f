// y = relu(x w + b), with a variant for one row.
func.func @main(%x: !sv.tensor<f32[n, 2]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 3]> {sv.name = "y"}) {
  %w = sv.constant {value = dense<[[1.0, 0.0, -1.0], [0.5, 2.0, 1.0]]> : tensor<2x3xf32>} : !sv.tensor<f32[2, 3]>
  %b = sv.constant {value = dense<[0.0, 1.0, 0.0]> : tensor<3xf32>} : !sv.tensor<f32[3]>
  %0 = sv.matmul %x, %w : (!sv.tensor<f32[n, 2]>, !sv.tensor<f32[2, 3]>) -> !sv.tensor<f32[n, 3]>
  %1 = sv.add %0, %b : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[3]>) -> !sv.tensor<f32[n, 3]>
  %2 = sv.relu %1 : (!sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]>
  return %2 : !sv.tensor<f32[n, 3]>
}
