!t = !sv.tensor<f32[n]>

func.func @fusible(%a: !t, %b: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.exp %0 : (!t) -> !t
  %d = sv.on_device %1 {place = "npu"} : (!t) -> !t
  %2 = sv.neg %d : (!t) -> !t
  %3 = sv.abs %2 : (!t) -> !t
  return %3 : !t
}
