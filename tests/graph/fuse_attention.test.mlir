func.func @attention(%q: !sv.tensor<f32[b, 12, n, 64]>, %k: !sv.tensor<f32[b, 12, m, 64]>, %v: !sv.tensor<f32[b, 12, m, 64]>, %mask: !sv.tensor<f32[b, 1, 1, m]>) -> !sv.tensor<f32[b, 12, n, 64]> {
  %c = sv.constant {value = dense<8.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.matmul %q, %k {transpose_b = true} : (!sv.tensor<f32[b, 12, n, 64]>, !sv.tensor<f32[b, 12, m, 64]>) -> !sv.tensor<f32[b, 12, n, m]>
  %1 = sv.div %0, %c : (!sv.tensor<f32[b, 12, n, m]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[b, 12, n, m]>
  %2 = sv.add %1, %mask : (!sv.tensor<f32[b, 12, n, m]>, !sv.tensor<f32[b, 1, 1, m]>) -> !sv.tensor<f32[b, 12, n, m]>
  %3 = sv.softmax %2 {axis = 3 : i64} : (!sv.tensor<f32[b, 12, n, m]>) -> !sv.tensor<f32[b, 12, n, m]>
  %4 = sv.matmul %3, %v : (!sv.tensor<f32[b, 12, n, m]>, !sv.tensor<f32[b, 12, m, 64]>) -> !sv.tensor<f32[b, 12, n, 64]>
  return %4 : !sv.tensor<f32[b, 12, n, 64]>
}
func.func @weights_read(%q: !sv.tensor<f32[b, 12, n, 64]>, %k: !sv.tensor<f32[b, 12, 64, m]>, %v: !sv.tensor<f32[b, 12, m, 64]>) -> (!sv.tensor<f32[b, 12, n, 64]>, !sv.tensor<f32[b, 12, n, m]>) {
  %0 = sv.matmul %q, %k : (!sv.tensor<f32[b, 12, n, 64]>, !sv.tensor<f32[b, 12, 64, m]>) -> !sv.tensor<f32[b, 12, n, m]>
  %1 = sv.softmax %0 {axis = 3 : i64} : (!sv.tensor<f32[b, 12, n, m]>) -> !sv.tensor<f32[b, 12, n, m]>
  %2 = sv.matmul %1, %v : (!sv.tensor<f32[b, 12, n, m]>, !sv.tensor<f32[b, 12, m, 64]>) -> !sv.tensor<f32[b, 12, n, 64]>
  return %2, %1 : !sv.tensor<f32[b, 12, n, 64]>, !sv.tensor<f32[b, 12, n, m]>
}
func.func @classifier(%x: !sv.tensor<f32[b, n, 64]>, %w: !sv.tensor<f32[64, 10]>, %v: !sv.tensor<f32[10, 4]>) -> !sv.tensor<f32[b, n, 4]> {
  %0 = sv.matmul %x, %w : (!sv.tensor<f32[b, n, 64]>, !sv.tensor<f32[64, 10]>) -> !sv.tensor<f32[b, n, 10]>
  %1 = sv.softmax %0 {axis = 2 : i64} : (!sv.tensor<f32[b, n, 10]>) -> !sv.tensor<f32[b, n, 10]>
  %2 = sv.matmul %1, %v : (!sv.tensor<f32[b, n, 10]>, !sv.tensor<f32[10, 4]>) -> !sv.tensor<f32[b, n, 4]>
  return %2 : !sv.tensor<f32[b, n, 4]>
}
