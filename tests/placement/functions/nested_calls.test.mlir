!t = !sv.tensor<f32[n]>

func.func @main(%a: !t, %b: !t) -> (!t, !t) {
  %0 = sv.exp %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.call @outer(%1) : (!t) -> !t
  %3 = sv.abs %2 : (!t) -> !t
  %4 = sv.on_device %3 {place = "npu"} : (!t) -> !t
  %5 = sv.call @outer(%b) : (!t) -> !t
  return %4, %5 : !t, !t
}
func.func private @outer(%x: !t) -> !t {
  %0 = sv.call @inner(%x) : (!t) -> !t
  %1 = sv.neg %0 : (!t) -> !t
  return %1 : !t
}
func.func private @inner(%x: !t) -> !t {
  %0 = sv.add %x, %x : (!t, !t) -> !t
  return %0 : !t
}
