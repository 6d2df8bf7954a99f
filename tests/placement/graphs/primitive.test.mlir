!t = !sv.tensor<f32[n]>

func.func @group(%a: !t, %b: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.exp %0 : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  return %3 : !t
}
