// @choose returns one of two closures. @twice calls its parameter, a closure, twice.
!f = !sv.tensor<f32[1]>
!n = !sv.tensor<f32[n]>
!unary = !sv.closure<(!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>>

func.func private @scale(%by: !f, %x: !n) -> !n {
  %0 = sv.mul %by, %x : (!f, !n) -> !n
  return %0 : !n
}

func.func private @shift(%by: !f, %x: !n) -> !n {
  %0 = sv.add %by, %x : (!f, !n) -> !n
  return %0 : !n
}

func.func private @choose(%c: !sv.tensor<bool[1]>, %by: !f) -> !unary {
  %0 = sv.if %c : (!sv.tensor<bool[1]>) -> !unary {
    %1 = sv.closure @scale(%by) : (!f) -> !unary
    sv.yield %1 : !unary
  } else {
    %1 = sv.closure @shift(%by) : (!f) -> !unary
    sv.yield %1 : !unary
  }
  return %0 : !unary
}

func.func private @twice(%f: !unary, %x: !n) -> !n {
  %0 = sv.call_closure %f(%x) : (!unary, !n) -> !n
  %1 = sv.call_closure %f(%0) : (!unary, !n) -> !n
  return %1 : !n
}

func.func @main(%c: !sv.tensor<bool[1]> {sv.name = "c"}, %by: !f {sv.name = "by"}, %x: !n {sv.name = "x"})
    -> (!n {sv.name = "y"}) {
  %0 = sv.call @choose(%c, %by) : (!sv.tensor<bool[1]>, !f) -> !unary
  %1 = sv.call @twice(%0, %x) : (!unary, !n) -> !n
  return %1 : !n
}
