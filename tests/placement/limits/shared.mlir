func.func @main(%x: !sv.tensor<f32[n, 4]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 4]> {sv.name = "y"}) {
  %0 = sv.tanh %x : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]> loc("tanh")
  %1 = sv.softmax %0 {axis = 1 : i64} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]> loc("softmax")
  return %1 : !sv.tensor<f32[n, 4]>
}
