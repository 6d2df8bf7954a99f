// The 18 classes of a head, of which the best ones are selected. All numbers are small integers, so
// that sums are exact in any order and many logits are equal.
func.func @main(%x: !sv.tensor<f32[n, 8]>) -> (!sv.tensor<f32[n, 3]>, !sv.tensor<i64[n, 3]>,
    !sv.tensor<i64[n]>, !sv.tensor<f32[n, 1]>) {
  %classes = sv.constant {value = dense<[[2.0, 0.0, 0.0, 2.0, -2.0, 1.0, -1.0, -2.0, -1.0, -2.0,
      0.0, 1.0, -1.0, 1.0, 2.0, -2.0, 2.0, -1.0], [-2.0, -1.0, 1.0, 0.0, -1.0, 1.0, -1.0, -2.0,
      -1.0, 2.0, 2.0, 1.0, -1.0, -1.0, -2.0, -2.0, -1.0, -1.0], [-1.0, -1.0, 0.0, 0.0, -1.0,
      2.0, -1.0, -1.0, -1.0, 1.0, 0.0, -2.0, 0.0, 1.0, -1.0, -1.0, 0.0, -2.0], [0.0, 0.0, 2.0,
      2.0, -2.0, 2.0, 0.0, -2.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 1.0, 1.0, -1.0, -2.0], [0.0,
      -2.0, 0.0, 1.0, -2.0, 2.0, 1.0, 0.0, 1.0, 2.0, -2.0, 1.0, -2.0, -1.0, 2.0, -1.0, -2.0,
      -1.0], [1.0, 0.0, 2.0, 0.0, 2.0, 0.0, 1.0, -2.0, 2.0, 0.0, 0.0, -2.0, 1.0, -2.0, -1.0,
      0.0, 2.0, 2.0], [0.0, -1.0, 0.0, 0.0, 2.0, -2.0, 0.0, 0.0, 0.0, -1.0, -2.0, -1.0, 0.0,
      1.0, -1.0, -2.0, -2.0, 2.0], [2.0, 1.0, -2.0, -1.0, 2.0, 0.0, 0.0, 1.0, 1.0, -1.0, -2.0,
      -2.0, 1.0, 0.0, -1.0, -1.0, 2.0, -1.0]]> : tensor<8x18xf32>} : !sv.tensor<f32[8, 18]>
  %logits = sv.matmul %x, %classes : (!sv.tensor<f32[n, 8]>, !sv.tensor<f32[8, 18]>) -> !sv.tensor<f32[n, 18]>
  %values, %indices = sv.top_k %logits {k = #sv.dims<[3]>, axis = 1, largest = true} : (!sv.tensor<f32[n, 18]>) -> (!sv.tensor<f32[n, 3]>, !sv.tensor<i64[n, 3]>)
  %last = sv.arg_min %logits {axis = 1, keep_dims = false, last = true} : (!sv.tensor<f32[n, 18]>) -> !sv.tensor<i64[n]>
  %max = sv.reduce_max %logits {axes = array<i64: 1>} : (!sv.tensor<f32[n, 18]>) -> !sv.tensor<f32[n, 1]>
  return %values, %indices, %last, %max : !sv.tensor<f32[n, 3]>, !sv.tensor<i64[n, 3]>, !sv.tensor<i64[n]>, !sv.tensor<f32[n, 1]>
}
