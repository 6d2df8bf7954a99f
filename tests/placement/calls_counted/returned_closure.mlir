!t = !sv.tensor<f32[n]>
!f = !sv.closure<(!t) -> !t>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %f = sv.call @make(%x) : (!t) -> !f
  %0 = sv.call_closure %f(%x) : (!f, !t) -> !t
  return %0 : !t
}
func.func private @make(%x: !t) -> !f {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.closure @plus(%0) : (!t) -> !f
  return %1 : !f
}
func.func private @plus(%a: !t, %x: !t) -> !t {
  %0 = sv.add %a, %x : (!t, !t) -> !t
  return %0 : !t
}
