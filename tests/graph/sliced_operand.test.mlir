// The batch elements of the first operand are rows of one matrix, which the slice would separate.
func.func @vector(%x: !sv.tensor<f32[2, 18, 7]>, %b: !sv.tensor<f32[7]>) -> !sv.tensor<f32[2, 17]> {
  %0 = sv.slice %x {sizes = #sv.dims<[2, 17, 7]>, starts = #sv.dims<[0, 0, 0]>, steps = array<i64: 1, 1, 1>} : (!sv.tensor<f32[2, 18, 7]>) -> !sv.tensor<f32[2, 17, 7]>
  %1 = sv.matmul %0, %b : (!sv.tensor<f32[2, 17, 7]>, !sv.tensor<f32[7]>) -> !sv.tensor<f32[2, 17]>
  return %1 : !sv.tensor<f32[2, 17]>
}
func.func @batch(%x: !sv.tensor<f32[2, 18, 7]>, %b: !sv.tensor<f32[2, 7, 3]>) -> !sv.tensor<f32[2, 17, 3]> {
  %0 = sv.slice %x {sizes = #sv.dims<[2, 17, 7]>, starts = #sv.dims<[0, 0, 0]>, steps = array<i64: 1, 1, 1>} : (!sv.tensor<f32[2, 18, 7]>) -> !sv.tensor<f32[2, 17, 7]>
  %1 = sv.matmul %0, %b : (!sv.tensor<f32[2, 17, 7]>, !sv.tensor<f32[2, 7, 3]>) -> !sv.tensor<f32[2, 17, 3]>
  return %1 : !sv.tensor<f32[2, 17, 3]>
}
