// "kept" is live but unused while a chain of other values is computed.
!t = !sv.tensor<f32[n]>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %kept = sv.cum_sum %x {axis = 0} : (!t) -> !t loc("kept")
  %1 = sv.cum_sum %kept {axis = 0} : (!t) -> !t loc("first")
  %2 = sv.cum_sum %1 {axis = 0} : (!t) -> !t loc("second")
  %3 = sv.cum_sum %2 {axis = 0} : (!t) -> !t loc("third")
  %4 = sv.add %3, %kept : (!t, !t) -> !t loc("fourth")
  %y = sv.cum_sum %4 {axis = 0} : (!t) -> !t loc("last")
  return %y : !t
}
