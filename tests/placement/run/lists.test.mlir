!l = !sv.list<sequence f32[3]>
!e = !sv.tensor<f32[3]>
!f = !sv.closure<(!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>>

func.func @main(%a: !e {sv.name = "a"}, %b: !e {sv.name = "b"}) -> (!l {sv.name = "y"}, !e {sv.name = "z"}) {
  %0 = sv.exp %a : (!e) -> !e
  %1 = sv.tanh %b : (!e) -> !e
  %2 = sv.list %0, %1 : (!e, !e) -> !l
  %3 = sv.list_get %2 {index = #sv.dims<[1]>} : (!l) -> !e
  %f = sv.closure @shift(%3) : (!e) -> !sv.closure<(!e) -> !e>
  %4 = sv.call_closure %f(%a) : (!sv.closure<(!e) -> !e>, !e) -> !e
  %5 = sv.list_insert %2, %4 {index = #sv.dims<[]>} : (!l, !e) -> !l
  %6 = sv.tanh %4 : (!e) -> !e
  return %5, %6 : !l, !e
}

func.func private @shift(%by: !e, %x: !e) -> !e {
  %0 = sv.sin %x : (!e) -> !e
  %1 = sv.add %0, %by : (!e, !e) -> !e
  return %1 : !e
}
