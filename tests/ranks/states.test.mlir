// A layer of a transformer with two heads and caches of keys and values, to which a call appends. All
// numbers are small integers, so that sums are exact in any order; relu stands for softmax.
func.func @main(%x: !sv.tensor<f32[n, 8]> {sv.name = "x"},
                %past_k: !sv.tensor<f32[2, past, 4]> {sv.name = "past.k"},
                %past_v: !sv.tensor<f32[2, past, 4]> {sv.name = "past.v"})
    -> (!sv.tensor<f32[n, 8]> {sv.name = "y"},
        !sv.tensor<f32[2, "past + n", 4]> {sv.name = "present.k"},
        !sv.tensor<f32[2, "past + n", 4]> {sv.name = "present.v"}) {
  %qkv = sv.constant {value = dense<[[-1.0, 2.0, 2.0, -1.0, 0.0, 2.0, 1.0, 2.0, -2.0, 2.0, -2.0, 1.0,
      0.0, 2.0, -1.0, -1.0, 1.0, 2.0, 2.0, 1.0, 1.0, -1.0, -1.0, -1.0], [2.0, 1.0, -2.0, -2.0,
      -1.0, 2.0, -2.0, 0.0, -2.0, 0.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0, -1.0, 0.0, -2.0, -2.0,
      -1.0, 1.0, -1.0], [0.0, 1.0, 0.0, 1.0, 2.0, 1.0, 2.0, 0.0, 2.0, 2.0, 1.0, 2.0, -1.0, 0.0,
      -2.0, 0.0, 2.0, -1.0, 0.0, 2.0, 2.0, 2.0, -2.0, -1.0], [2.0, 0.0, 0.0, -2.0, -2.0, 1.0, 1.0,
      -2.0, 0.0, -2.0, 1.0, -1.0, -2.0, 0.0, 1.0, 1.0, -2.0, -2.0, 2.0, 2.0, -2.0, 1.0, 2.0, 0.0],
      [2.0, 0.0, 2.0, -1.0, -2.0, 0.0, -2.0, -2.0, -2.0, 2.0, 2.0, -2.0, -1.0, 1.0, 0.0, 2.0, 0.0,
      -1.0, -2.0, 0.0, 0.0, 0.0, -1.0, 1.0], [1.0, 1.0, 2.0, 1.0, 2.0, 2.0, -2.0, 2.0, 2.0, 0.0,
      1.0, -1.0, 0.0, 1.0, 0.0, 2.0, 0.0, 2.0, 0.0, -2.0, 1.0, 2.0, 0.0, -2.0], [1.0, 2.0, 2.0,
      -1.0, -2.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 1.0, -2.0, 2.0, -2.0, -2.0, 0.0, 0.0, 1.0, 0.0,
      2.0, 2.0, 0.0, -1.0], [0.0, -1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 1.0, -2.0, -2.0, 2.0, -1.0, 0.0,
      2.0, -1.0, 0.0, -1.0, 0.0, -1.0, 1.0, -2.0, -2.0, 2.0, 0.0]]> : tensor<8x24xf32>} :
      !sv.tensor<f32[8, 24]>
  %out = sv.constant {value = dense<[[0.0, -1.0, 1.0, -1.0, -2.0, 0.0, -1.0, 2.0], [1.0, 0.0, -1.0,
      -2.0, -2.0, 2.0, -1.0, 0.0], [2.0, -1.0, 0.0, 0.0, -2.0, 2.0, 0.0, 2.0], [-1.0, 1.0, 0.0,
      2.0, 0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 2.0, 1.0, -2.0, 1.0, -1.0, -1.0], [-2.0, 1.0, 2.0, 2.0,
      1.0, 2.0, -1.0, -2.0], [1.0, 2.0, 0.0, 2.0, 0.0, -1.0, -2.0, 2.0], [0.0, -2.0, -1.0, -2.0,
      -2.0, 2.0, -1.0, 1.0]]> : tensor<8x8xf32>} : !sv.tensor<f32[8, 8]>
  %0 = sv.matmul %x, %qkv : (!sv.tensor<f32[n, 8]>, !sv.tensor<f32[8, 24]>) -> !sv.tensor<f32[n, 24]>
  %1 = sv.reshape %0 {dims = #sv.dims<[n, 6, 4]>} : (!sv.tensor<f32[n, 24]>) -> !sv.tensor<f32[n, 6, 4]>
  %2 = sv.transpose %1 {permutation = array<i64: 1, 0, 2>} : (!sv.tensor<f32[n, 6, 4]>) -> !sv.tensor<f32[6, n, 4]>
  %q = sv.slice %2 {starts = #sv.dims<[0, 0, 0]>, sizes = #sv.dims<[2, n, 4]>, steps = array<i64: 1, 1, 1>} : (!sv.tensor<f32[6, n, 4]>) -> !sv.tensor<f32[2, n, 4]>
  %new_k = sv.slice %2 {starts = #sv.dims<[2, 0, 0]>, sizes = #sv.dims<[2, n, 4]>, steps = array<i64: 1, 1, 1>} : (!sv.tensor<f32[6, n, 4]>) -> !sv.tensor<f32[2, n, 4]>
  %new_v = sv.slice %2 {starts = #sv.dims<[4, 0, 0]>, sizes = #sv.dims<[2, n, 4]>, steps = array<i64: 1, 1, 1>} : (!sv.tensor<f32[6, n, 4]>) -> !sv.tensor<f32[2, n, 4]>
  %k = sv.concat %past_k, %new_k {axis = 1 : i64} : (!sv.tensor<f32[2, past, 4]>, !sv.tensor<f32[2, n, 4]>) -> !sv.tensor<f32[2, "past + n", 4]>
  %v = sv.concat %past_v, %new_v {axis = 1 : i64} : (!sv.tensor<f32[2, past, 4]>, !sv.tensor<f32[2, n, 4]>) -> !sv.tensor<f32[2, "past + n", 4]>
  %3 = sv.matmul %q, %k {transpose_b = true} : (!sv.tensor<f32[2, n, 4]>, !sv.tensor<f32[2, "past + n", 4]>) -> !sv.tensor<f32[2, n, "past + n"]>
  %4 = sv.relu %3 : (!sv.tensor<f32[2, n, "past + n"]>) -> !sv.tensor<f32[2, n, "past + n"]>
  %5 = sv.matmul %4, %v : (!sv.tensor<f32[2, n, "past + n"]>, !sv.tensor<f32[2, "past + n", 4]>) -> !sv.tensor<f32[2, n, 4]>
  %6 = sv.transpose %5 {permutation = array<i64: 1, 0, 2>} : (!sv.tensor<f32[2, n, 4]>) -> !sv.tensor<f32[n, 2, 4]>
  %7 = sv.reshape %6 {dims = #sv.dims<[n, 8]>} : (!sv.tensor<f32[n, 2, 4]>) -> !sv.tensor<f32[n, 8]>
  %8 = sv.matmul %7, %out : (!sv.tensor<f32[n, 8]>, !sv.tensor<f32[8, 8]>) -> !sv.tensor<f32[n, 8]>
  %9 = sv.add %8, %x : (!sv.tensor<f32[n, 8]>, !sv.tensor<f32[n, 8]>) -> !sv.tensor<f32[n, 8]>
  return %9, %k, %v : !sv.tensor<f32[n, 8]>, !sv.tensor<f32[2, "past + n", 4]>, !sv.tensor<f32[2, "past + n", 4]>
}
