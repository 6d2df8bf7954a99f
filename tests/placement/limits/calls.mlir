// The memory of a callee counts during its call, in which "kept" is live.
!t = !sv.tensor<f32[n]>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %kept = sv.cum_sum %x {axis = 0} : (!t) -> !t loc("kept")
  %0 = sv.cum_sum %kept {axis = 0} : (!t) -> !t loc("first")
  %1 = sv.call @twice(%0) : (!t) -> !t loc("a")
  %2 = sv.call @twice(%1) : (!t) -> !t loc("b")
  %3 = sv.add %2, %kept : (!t, !t) -> !t loc("fourth")
  %y = sv.cum_sum %3 {axis = 0} : (!t) -> !t loc("last")
  return %y : !t
}

func.func private @twice(%x: !t) -> !t {
  %0 = sv.cum_sum %x {axis = 0} : (!t) -> !t loc("inner")
  %1 = sv.cum_sum %0 {axis = 0} : (!t) -> !t loc("inner_2")
  %2 = sv.add %1, %0 : (!t, !t) -> !t loc("inner_3")
  %3 = sv.cum_sum %2 {axis = 0} : (!t) -> !t loc("inner_4")
  return %3 : !t
}
