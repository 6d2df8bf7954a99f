// The formula of the workspace has parts that occur more than once: rounded products of dims.
func.func @main(%x: !sv.tensor<f32[n, m]> {sv.name = "x"}, %y: !sv.tensor<f32[n, 3]> {sv.name = "y"})
    -> (!sv.tensor<f32[n, 3]> {sv.name = "z"}) {
  %0 = sv.softmax %x {axis = 1 : i64} : (!sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n, m]>
  %1 = sv.transpose %0 {permutation = array<i64: 1, 0>} : (!sv.tensor<f32[n, m]>) -> !sv.tensor<f32[m, n]>
  %2 = sv.matmul %1, %y : (!sv.tensor<f32[m, n]>, !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[m, 3]>
  %3 = sv.softmax %2 {axis = 1 : i64} : (!sv.tensor<f32[m, 3]>) -> !sv.tensor<f32[m, 3]>
  %4 = sv.matmul %0, %3 : (!sv.tensor<f32[n, m]>, !sv.tensor<f32[m, 3]>) -> !sv.tensor<f32[n, 3]>
  %5 = sv.softmax %4 {axis = 1 : i64} : (!sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]>
  return %5 : !sv.tensor<f32[n, 3]>
}
