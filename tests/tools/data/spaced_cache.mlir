// As cache.mlir, with a dimension whose name has a space.
func.func @main(%x: !sv.tensor<f32[b, n, 2]> {sv.name = "x"}, %past: !sv.tensor<f32[b, "\"past len\"", 2]> {sv.name = "past"}) -> (!sv.tensor<f32[b, 2]> {sv.name = "sum"}, !sv.tensor<f32[b, "\"past len\" + n", 2]> {sv.name = "present"}) {
  %0 = sv.concat %past, %x {axis = 1} : (!sv.tensor<f32[b, "\"past len\"", 2]>, !sv.tensor<f32[b, n, 2]>) -> !sv.tensor<f32[b, "\"past len\" + n", 2]>
  %1 = sv.reduce_sum %0 {axes = array<i64: 1>, keep_dims = false} : (!sv.tensor<f32[b, "\"past len\" + n", 2]>) -> !sv.tensor<f32[b, 2]>
  return %1, %0 : !sv.tensor<f32[b, 2]>, !sv.tensor<f32[b, "\"past len\" + n", 2]>
}
