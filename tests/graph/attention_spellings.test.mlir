// The attention of an exporter: keys and values repeated for pairs of heads, the scale on queries
// and keys, and 0 in place of NaN.
func.func @exported(%q: !sv.tensor<f32[b, 4, n, 16]>, %k: !sv.tensor<f32[b, 2, t, 16]>, %v: !sv.tensor<f32[b, 2, t, 16]>, %mask: !sv.tensor<f32[b, 1, n, t]>) -> !sv.tensor<f32[b, 4, n, 16]> {
  %half = sv.constant {value = dense<0.5> : tensor<1xf32>} : !sv.tensor<f32[1]>
  %zero = sv.constant {value = dense<0.0> : tensor<f32>} : !sv.tensor<f32[]>
  %k1 = sv.reshape %k {dims = #sv.dims<[b, 2, 1, t, 16]>} : (!sv.tensor<f32[b, 2, t, 16]>) -> !sv.tensor<f32[b, 2, 1, t, 16]>
  %k2 = sv.expand %k1 {dims = #sv.dims<[b, 2, 2, t, 16]>} : (!sv.tensor<f32[b, 2, 1, t, 16]>) -> !sv.tensor<f32[b, 2, 2, t, 16]>
  %k4 = sv.reshape %k2 {dims = #sv.dims<[b, 4, t, 16]>} : (!sv.tensor<f32[b, 2, 2, t, 16]>) -> !sv.tensor<f32[b, 4, t, 16]>
  %v1 = sv.reshape %v {dims = #sv.dims<[b, 2, 1, t, 16]>} : (!sv.tensor<f32[b, 2, t, 16]>) -> !sv.tensor<f32[b, 2, 1, t, 16]>
  %v2 = sv.expand %v1 {dims = #sv.dims<[b, 2, 2, t, 16]>} : (!sv.tensor<f32[b, 2, 1, t, 16]>) -> !sv.tensor<f32[b, 2, 2, t, 16]>
  %v4 = sv.reshape %v2 {dims = #sv.dims<[b, 4, t, 16]>} : (!sv.tensor<f32[b, 2, 2, t, 16]>) -> !sv.tensor<f32[b, 4, t, 16]>
  %kt = sv.transpose %k4 {permutation = array<i64: 0, 1, 3, 2>} : (!sv.tensor<f32[b, 4, t, 16]>) -> !sv.tensor<f32[b, 4, 16, t]>
  %qs = sv.mul %q, %half : (!sv.tensor<f32[b, 4, n, 16]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[b, 4, n, 16]>
  %ks = sv.mul %kt, %half : (!sv.tensor<f32[b, 4, 16, t]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[b, 4, 16, t]>
  %0 = sv.matmul %qs, %ks : (!sv.tensor<f32[b, 4, n, 16]>, !sv.tensor<f32[b, 4, 16, t]>) -> !sv.tensor<f32[b, 4, n, t]>
  %1 = sv.add %0, %mask : (!sv.tensor<f32[b, 4, n, t]>, !sv.tensor<f32[b, 1, n, t]>) -> !sv.tensor<f32[b, 4, n, t]>
  %2 = sv.softmax %1 {axis = 3 : i64} : (!sv.tensor<f32[b, 4, n, t]>) -> !sv.tensor<f32[b, 4, n, t]>
  %3 = sv.is_nan %2 : (!sv.tensor<f32[b, 4, n, t]>) -> !sv.tensor<bool[b, 4, n, t]>
  %4 = sv.select %3, %zero, %2 : (!sv.tensor<bool[b, 4, n, t]>, !sv.tensor<f32[]>, !sv.tensor<f32[b, 4, n, t]>) -> !sv.tensor<f32[b, 4, n, t]>
  %5 = sv.matmul %4, %v4 : (!sv.tensor<f32[b, 4, n, t]>, !sv.tensor<f32[b, 4, t, 16]>) -> !sv.tensor<f32[b, 4, n, 16]>
  return %5 : !sv.tensor<f32[b, 4, n, 16]>
}
// The probabilities have another user.
func.func @probabilities(%q: !sv.tensor<f32[b, 4, n, 16]>, %k: !sv.tensor<f32[b, 2, t, 16]>, %v: !sv.tensor<f32[b, 2, t, 16]>) -> (!sv.tensor<f32[b, 4, n, 16]>, !sv.tensor<f32[b, 4, n, t]>) {
  %k1 = sv.reshape %k {dims = #sv.dims<[b, 2, 1, t, 16]>} : (!sv.tensor<f32[b, 2, t, 16]>) -> !sv.tensor<f32[b, 2, 1, t, 16]>
  %k2 = sv.expand %k1 {dims = #sv.dims<[b, 2, 2, t, 16]>} : (!sv.tensor<f32[b, 2, 1, t, 16]>) -> !sv.tensor<f32[b, 2, 2, t, 16]>
  %k4 = sv.reshape %k2 {dims = #sv.dims<[b, 4, t, 16]>} : (!sv.tensor<f32[b, 2, 2, t, 16]>) -> !sv.tensor<f32[b, 4, t, 16]>
  %v1 = sv.reshape %v {dims = #sv.dims<[b, 2, 1, t, 16]>} : (!sv.tensor<f32[b, 2, t, 16]>) -> !sv.tensor<f32[b, 2, 1, t, 16]>
  %v2 = sv.expand %v1 {dims = #sv.dims<[b, 2, 2, t, 16]>} : (!sv.tensor<f32[b, 2, 1, t, 16]>) -> !sv.tensor<f32[b, 2, 2, t, 16]>
  %v4 = sv.reshape %v2 {dims = #sv.dims<[b, 4, t, 16]>} : (!sv.tensor<f32[b, 2, 2, t, 16]>) -> !sv.tensor<f32[b, 4, t, 16]>
  %0 = sv.matmul %q, %k4 {transpose_b = true} : (!sv.tensor<f32[b, 4, n, 16]>, !sv.tensor<f32[b, 4, t, 16]>) -> !sv.tensor<f32[b, 4, n, t]>
  %1 = sv.softmax %0 {axis = 3 : i64} : (!sv.tensor<f32[b, 4, n, t]>) -> !sv.tensor<f32[b, 4, n, t]>
  %2 = sv.matmul %1, %v4 : (!sv.tensor<f32[b, 4, n, t]>, !sv.tensor<f32[b, 4, t, 16]>) -> !sv.tensor<f32[b, 4, n, 16]>
  return %2, %1 : !sv.tensor<f32[b, 4, n, 16]>, !sv.tensor<f32[b, 4, n, t]>
}
// Buffers whose first rows are keys and values.
func.func @buffers(%q: !sv.tensor<f32[b, 2, n, 16]>, %k: !sv.tensor<f32[b, 2, c, 16]>, %v: !sv.tensor<f32[b, 2, c, 16]>, %t: !sv.tensor<u8[t, 0]>) -> !sv.tensor<f32[b, 2, n, 16]> {
  %ks = sv.slice %k {starts = #sv.dims<[0, 0, 0, 0]>, sizes = #sv.dims<[b, 2, t, 16]>, steps = array<i64: 1, 1, 1, 1>} : (!sv.tensor<f32[b, 2, c, 16]>) -> !sv.tensor<f32[b, 2, t, 16]>
  %vs = sv.slice %v {starts = #sv.dims<[0, 0, 0, 0]>, sizes = #sv.dims<[b, 2, t, 16]>, steps = array<i64: 1, 1, 1, 1>} : (!sv.tensor<f32[b, 2, c, 16]>) -> !sv.tensor<f32[b, 2, t, 16]>
  %0 = sv.matmul %q, %ks {transpose_b = true} : (!sv.tensor<f32[b, 2, n, 16]>, !sv.tensor<f32[b, 2, t, 16]>) -> !sv.tensor<f32[b, 2, n, t]>
  %1 = sv.softmax %0 {axis = 3 : i64} : (!sv.tensor<f32[b, 2, n, t]>) -> !sv.tensor<f32[b, 2, n, t]>
  %2 = sv.matmul %1, %vs : (!sv.tensor<f32[b, 2, n, t]>, !sv.tensor<f32[b, 2, t, 16]>) -> !sv.tensor<f32[b, 2, n, 16]>
  return %2 : !sv.tensor<f32[b, 2, n, 16]>
}
// The rows of all batch elements are multiplied by one matrix.
func.func @rows_of_one_matrix(%x: !sv.tensor<f32[b, s, 8]>, %w: !sv.tensor<f32[8, 4]>) -> !sv.tensor<f32[b, 3, 4]> {
  %0 = sv.slice %x {starts = #sv.dims<[0, 0, 0]>, sizes = #sv.dims<[b, 3, 8]>, steps = array<i64: 1, 1, 1>} : (!sv.tensor<f32[b, s, 8]>) -> !sv.tensor<f32[b, 3, 8]>
  %1 = sv.matmul %0, %w : (!sv.tensor<f32[b, 3, 8]>, !sv.tensor<f32[8, 4]>) -> !sv.tensor<f32[b, 3, 4]>
  return %1 : !sv.tensor<f32[b, 3, 4]>
}
