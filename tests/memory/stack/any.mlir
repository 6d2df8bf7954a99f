!x = !sv.tensor<f32[n, k]>
!w = !sv.tensor<f32[k, m]>
!y = !sv.tensor<f32[n, m]>
func.func @main(%x: !x, %w: !w) -> !y {
  %y = sv.matmul %x, %w : (!x, !w) -> !y
  return %y : !y
}
