!t = !sv.tensor<f32[n, 8]>
!w = !sv.tensor<f32[8, 8]>

func.func @main(%x: !t {sv.name = "x"}, %a: !w {sv.name = "a"}) -> (!t {sv.name = "y"}, !sv.tensor<f32[n]> {sv.name = "z"}) {
  %half = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.matmul %x, %a : (!t, !w) -> !t
  %1 = sv.tanh %0 : (!t) -> !t
  %2 = sv.matmul %1, %a : (!t, !w) -> !t
  %3 = sv.mul %2, %half : (!t, !sv.tensor<f32[]>) -> !t
  %4 = sv.add %3, %x : (!t, !t) -> !t
  %5 = sv.reduce_sum %4 {axes = array<i64: 1>, keep_dims = false} : (!t) -> !sv.tensor<f32[n]>
  return %4, %5 : !t, !sv.tensor<f32[n]>
}
