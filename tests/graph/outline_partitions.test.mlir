func.func @main(%x: !sv.tensor<f32[rows, 4]>, %w: !sv.tensor<f32[4, 4]>, %y: !sv.tensor<f32[m, 4]>, %z: !sv.tensor<f32[4, "2*q+1"]>) -> (!sv.tensor<f32[rows, 4]>, !sv.tensor<f32[m, 4]>, !sv.tensor<f32["2*q+1", 4]>) {
  %a = sv.matmul %x, %w : (!sv.tensor<f32[rows, 4]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[rows, 4]>
  %b = sv.matmul %y, %w : (!sv.tensor<f32[m, 4]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[m, 4]>
  %c = sv.matmul %z, %w {transpose_a = true} : (!sv.tensor<f32[4, "2*q+1"]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32["2*q+1", 4]>
  %half = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
  %d = sv.mul %a, %half : (!sv.tensor<f32[rows, 4]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[rows, 4]>
  %other = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
  %e = sv.mul %b, %other : (!sv.tensor<f32[m, 4]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[m, 4]>
  return %d, %e, %c : !sv.tensor<f32[rows, 4]>, !sv.tensor<f32[m, 4]>, !sv.tensor<f32["2*q+1", 4]>
}
