// Each product has 64 elements.
!t = !sv.tensor<f32[8, 8]>
func.func @main(%x: !t, %w: !t) -> !t {
  %0 = sv.matmul %x, %w : (!t, !t) -> !t
  %1 = sv.matmul %0, %w : (!t, !t) -> !t
  %2 = sv.matmul %1, %0 : (!t, !t) -> !t
  return %2 : !t
}
