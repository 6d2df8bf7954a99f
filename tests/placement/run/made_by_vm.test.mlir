!e = !sv.tensor<f32[3]>
!l = !sv.list<sequence f32[3]>
!f = !sv.closure<(!e) -> !e>

func.func @main(%a: !e {sv.name = "a"}, %b: !e {sv.name = "b"})
    -> (!e {sv.name = "y"}, !e {sv.name = "z"}) {
  %2 = sv.list %a, %b : (!e, !e) -> !l
  %3 = sv.list_get %2 {index = #sv.dims<[1]>} : (!l) -> !e
  %4 = sv.on_device %3 {place = "npu"} : (!e) -> !e
  %5 = sv.exp %4 : (!e) -> !e
  %f = sv.closure @shift(%5) : (!e) -> !f
  %6 = sv.call_closure %f(%a) : (!f, !e) -> !e
  %7 = sv.on_device %6 {place = "npu"} : (!e) -> !e
  %8 = sv.tanh %7 : (!e) -> !e
  return %5, %8 : !e, !e
}

func.func private @shift(%by: !e, %x: !sv.tensor<f32[3], @npu>) -> !sv.tensor<f32[3], @npu> {
  %0 = sv.sin %x : (!sv.tensor<f32[3], @npu>) -> !sv.tensor<f32[3]>
  %1 = sv.add %0, %by : (!sv.tensor<f32[3]>, !e) -> !sv.tensor<f32[3], @npu>
  return %1 : !sv.tensor<f32[3], @npu>
}
