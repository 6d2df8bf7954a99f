// sum = the sum of the rows of x
func.func @main(%x: !sv.tensor<f32[n, 2]> {sv.name = "x"}) -> (!sv.tensor<f32[2]> {sv.name = "sum"}) {
  %0 = sv.reduce_sum %x {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[2]>
  return %0 : !sv.tensor<f32[2]>
}
