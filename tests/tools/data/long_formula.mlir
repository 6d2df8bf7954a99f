// A copy whose formula is too long for a line.
func.func @main(%x: !sv.tensor<f32["floordiv(rows_of_the_image+11, 12)", channels, n]> {sv.name = "x"},
                %i: !sv.tensor<f32[rows_of_the_image, channels, n]> {sv.name = "i"})
    -> (!sv.tensor<f32["floordiv(rows_of_the_image+11, 12)", channels, n]> {sv.name = "y"}) {
  %0 = sv.relu %x : (!sv.tensor<f32["floordiv(rows_of_the_image+11, 12)", channels, n]>) -> !sv.tensor<f32["floordiv(rows_of_the_image+11, 12)", channels, n]>
  return %0 : !sv.tensor<f32["floordiv(rows_of_the_image+11, 12)", channels, n]>
}
