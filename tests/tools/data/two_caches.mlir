// Two caches with the same number of rows before the call, and other numbers after it.
func.func @main(%x: !sv.tensor<f32[n, 2]> {sv.name = "x"}, %y: !sv.tensor<f32[m, 2]> {sv.name = "y"}, %a: !sv.tensor<f32[past, 2]> {sv.name = "a"}, %b: !sv.tensor<f32[past, 2]> {sv.name = "b"}) -> (!sv.tensor<f32["past + n", 2]> {sv.name = "next_a"}, !sv.tensor<f32["past + m", 2]> {sv.name = "next_b"}) {
  %0 = sv.concat %a, %x {axis = 0} : (!sv.tensor<f32[past, 2]>, !sv.tensor<f32[n, 2]>) -> !sv.tensor<f32["past + n", 2]>
  %1 = sv.concat %b, %y {axis = 0} : (!sv.tensor<f32[past, 2]>, !sv.tensor<f32[m, 2]>) -> !sv.tensor<f32["past + m", 2]>
  return %0, %1 : !sv.tensor<f32["past + n", 2]>, !sv.tensor<f32["past + m", 2]>
}
