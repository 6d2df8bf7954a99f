// A product whose kernel packs an operand in scratch memory.
func.func @main(%x: !sv.tensor<f32[n, 64]> {sv.name = "x"}, %w: !sv.tensor<f32[64, 64]> {sv.name = "w"})
    -> (!sv.tensor<f32[n, 64]> {sv.name = "y"}) {
  %0 = sv.matmul %x, %w : (!sv.tensor<f32[n, 64]>, !sv.tensor<f32[64, 64]>) -> !sv.tensor<f32[n, 64]>
  return %0 : !sv.tensor<f32[n, 64]>
}
