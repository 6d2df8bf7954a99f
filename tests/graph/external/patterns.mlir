// The patterns of the tests of partitions: a matrix product with its epilogues.
func.func @matmul(%x: !sv.tensor<f32[m, k]>, %w: !sv.tensor<f32[k, n]>) -> !sv.tensor<f32[m, n]> {
  %0 = sv.matmul %x, %w : (!sv.tensor<f32[m, k]>, !sv.tensor<f32[k, n]>) -> !sv.tensor<f32[m, n]>
  return %0 : !sv.tensor<f32[m, n]>
}
func.func @matmul_bias_relu(%x: !sv.tensor<f32[m, k]>, %w: !sv.tensor<f32[k, n]>, %b: !sv.tensor<f32[n]>) -> !sv.tensor<f32[m, n]> {
  %0 = sv.matmul %x, %w : (!sv.tensor<f32[m, k]>, !sv.tensor<f32[k, n]>) -> !sv.tensor<f32[m, n]>
  %1 = sv.add %0, %b : (!sv.tensor<f32[m, n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[m, n]>
  %2 = sv.relu %1 : (!sv.tensor<f32[m, n]>) -> !sv.tensor<f32[m, n]>
  return %2 : !sv.tensor<f32[m, n]>
}
func.func @scale(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %half = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.mul %x, %half : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
}
// Returns the sum as well.
func.func @add_exp(%a: !sv.tensor<f32[n]>, %b: !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) {
  %0 = sv.add %a, %b : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %1 = sv.exp %0 : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %1, %0 : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
}
