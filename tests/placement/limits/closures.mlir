// The results of closures are stored in npu.global. The function of the closure needs no workspace.
!t = !sv.tensor<f32[1000]>
!f = !sv.closure<(!t) -> !t>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %f = sv.closure @once() : () -> !f
  %kept = sv.cum_sum %x {axis = 0} : (!t) -> !t loc("kept")
  %0 = sv.cum_sum %kept {axis = 0} : (!t) -> !t loc("first")
  %1 = sv.call_closure %f(%0) : (!f, !t) -> !t loc("a")
  %2 = sv.call_closure %f(%1) : (!f, !t) -> !t loc("b")
  %3 = sv.add %2, %kept : (!t, !t) -> !t loc("fourth")
  %y = sv.cum_sum %3 {axis = 0} : (!t) -> !t loc("last")
  return %y : !t
}

func.func private @once(%x: !t) -> !t {
  %0 = sv.cum_sum %x {axis = 0} : (!t) -> !t loc("inner")
  return %0 : !t
}
