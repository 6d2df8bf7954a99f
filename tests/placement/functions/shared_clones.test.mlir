!t = !sv.tensor<f32[n]>

func.func @main(%a: !t) -> (!t, !t) {
  %0 = sv.exp %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.call @twice(%1) : (!t) -> !t
  %3 = sv.call @twice(%2) : (!t) -> !t
  %4 = sv.abs %3 : (!t) -> !t
  %5 = sv.on_device %4 {place = "npu"} : (!t) -> !t
  %6 = sv.neg %5 : (!t) -> !t
  %7 = sv.on_device %6 {place = "cpu"} : (!t) -> !t
  %8 = sv.call @twice(%7) : (!t) -> !t
  return %5, %8 : !t, !t
}
func.func private @twice(%x: !t) -> !t {
  %0 = sv.add %x, %x : (!t, !t) -> !t
  return %0 : !t
}
