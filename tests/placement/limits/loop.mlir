// "kept" is live during a loop that does not use it. "base" is used in each iteration.
!t = !sv.tensor<f32[n]>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %base = sv.cum_sum %x {axis = 0} : (!t) -> !t loc("base")
  %kept = sv.cum_sum %base {axis = 0} : (!t) -> !t loc("kept")
  %0 = sv.tanh %kept : (!t) -> !t loc("start")
  %1 = sv.loop %0 {index = "$i", trip_count = #sv.dims<[5]>} : (!t) -> !t {
  ^bb0(%s: !t):
    %2 = sv.cum_sum %s {axis = 0} : (!t) -> !t loc("summed")
    %3 = sv.softmax %2 {axis = 0} : (!t) -> !t loc("soft")
    %4 = sv.cum_sum %3 {axis = 0} : (!t) -> !t loc("again")
    %5 = sv.add %4, %base : (!t, !t) -> !t loc("next")
    sv.yield %5 : !t
  }
  %y = sv.add %1, %kept : (!t, !t) -> !t loc("sum")
  return %y : !t
}
