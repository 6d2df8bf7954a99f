func.func @scale_and_mask(%x: !sv.tensor<f32[n, m]>, %k: !sv.tensor<f32[1, m]>) -> !sv.tensor<f32[n, m]> {
  %c = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
  %s = sv.mul %x, %c : (!sv.tensor<f32[n, m]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, m]>
  %t = sv.add %s, %k : (!sv.tensor<f32[n, m]>, !sv.tensor<f32[1, m]>) -> !sv.tensor<f32[n, m]>
  %u = sv.softmax %t {axis = 1 : i64} : (!sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n, m]>
  %v = sv.relu %u : (!sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n, m]>
  return %v : !sv.tensor<f32[n, m]>
}
func.func @read_elsewhere(%x: !sv.tensor<f32[n, m]>, %y: !sv.tensor<f32[n, m]>, %g: !sv.tensor<f32[m]>) -> (!sv.tensor<f32[n, m]>, !sv.tensor<f32[n, m]>) {
  %s = sv.add %x, %y : (!sv.tensor<f32[n, m]>, !sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n, m]>
  %t = sv.layer_norm %s, %g {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (!sv.tensor<f32[n, m]>, !sv.tensor<f32[m]>) -> !sv.tensor<f32[n, m]>
  return %s, %t : !sv.tensor<f32[n, m]>, !sv.tensor<f32[n, m]>
}
func.func @squares(%x: !sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n]> {
  %s = sv.mul %x, %x : (!sv.tensor<f32[n, m]>, !sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n, m]>
  %t = sv.reduce_sum %s {axes = array<i64: 1>, keep_dims = false} : (!sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n]>
  %u = sv.sqrt %t : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %u : !sv.tensor<f32[n]>
}
func.func @two_producers(%x: !sv.tensor<f32[n]>, %y: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %s = sv.exp %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %t = sv.tanh %y : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %u = sv.add %s, %t : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %u : !sv.tensor<f32[n]>
}
