// Returns its inputs.
func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "x"}, %rate: !sv.tensor<i64[]> {sv.name = "rate"},
                %half: !sv.tensor<f16[]> {sv.name = "half"},
                %on: !sv.tensor<bool[]> {sv.name = "on"})
    -> (!sv.tensor<f32[n]> {sv.name = "x_out"}, !sv.tensor<i64[]> {sv.name = "rate_out"},
        !sv.tensor<f16[]> {sv.name = "half_out"}, !sv.tensor<bool[]> {sv.name = "on_out"}) {
  return %x, %rate, %half, %on
    : !sv.tensor<f32[n]>, !sv.tensor<i64[]>, !sv.tensor<f16[]>, !sv.tensor<bool[]>
}
