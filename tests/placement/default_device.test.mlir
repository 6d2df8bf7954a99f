func.func @main(%x: !sv.tensor<f32[n]>, %y: !sv.tensor<f32[n], @cpu.global>) -> !sv.tensor<f32[n]> {
  %0 = sv.add %x, %y : (!sv.tensor<f32[n]>, !sv.tensor<f32[n], @cpu.global>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
}
