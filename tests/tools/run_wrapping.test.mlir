func.func @main(%x: !sv.tensor<f32[1]> {sv.name = "x"})
    -> (!sv.tensor<i64[2]> {sv.name = "y"}, !sv.tensor<i64[]> {sv.name = "z"}) {
  %0 = sv.constant {value = dense<[-9223372036854775808, 4]> : tensor<2xi64>} : !sv.tensor<i64[2]>
  %1 = sv.constant {value = dense<-1> : tensor<2xi64>} : !sv.tensor<i64[2]>
  %2 = sv.add %0, %1 : (!sv.tensor<i64[2]>, !sv.tensor<i64[2]>) -> !sv.tensor<i64[2]>
  %3 = sv.constant {value = dense<[9223372036854775807, 20]> : tensor<2xi64>} : !sv.tensor<i64[2]>
  %4 = sv.reduce_prod %3 {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<i64[2]>) -> !sv.tensor<i64[]>
  return %2, %4 : !sv.tensor<i64[2]>, !sv.tensor<i64[]>
}
