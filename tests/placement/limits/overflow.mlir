// Three buffers of a*b*c*d*4 bytes.
!t = !sv.tensor<f32[a, b, c, d]>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %0 = sv.cum_sum %x {axis = 0} : (!t) -> !t loc("first")
  %1 = sv.cum_sum %0 {axis = 1} : (!t) -> !t loc("second")
  %y = sv.cum_sum %1 {axis = 2} : (!t) -> !t loc("last")
  return %y : !t
}
