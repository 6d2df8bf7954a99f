func.func @main(%x: !sv.tensor<f32[n, 4]> {sv.name = "x"},
                %y: !sv.tensor<f32[n, 4]> {sv.name = "y"})
    -> (!sv.tensor<f32[n, 1]> {sv.name = "distance"}) {
  %0 = sv.sub %x, %y : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %1 = sv.mul %0, %0 : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %2 = sv.reduce_sum %1 {axes = array<i64: 1>} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 1]>
  %3 = sv.sqrt %2 : (!sv.tensor<f32[n, 1]>) -> !sv.tensor<f32[n, 1]>
  return %3 : !sv.tensor<f32[n, 1]>
}
