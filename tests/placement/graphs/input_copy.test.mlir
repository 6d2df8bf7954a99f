func.func @main(%x: !sv.tensor<f32[1000, 64]> {sv.name = "x"}) -> (!sv.tensor<f32[64]> {sv.name = "y"}) {
  %0 = sv.reduce_sum %x {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32[1000, 64]>) -> !sv.tensor<f32[64]> loc("sum")
  %1 = sv.softmax %0 {axis = 0 : i64} : (!sv.tensor<f32[64]>) -> !sv.tensor<f32[64]> loc("weights")
  return %1 : !sv.tensor<f32[64]>
}
