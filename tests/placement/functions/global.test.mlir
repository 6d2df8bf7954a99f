!t = !sv.tensor<f32[n]>

func.func @main(%a: !t, %b: !t) -> !t {
  %0 = sv.call @sub(%b, %a) : (!t, !t) -> !t
  return %0 : !t
}
func.func private @sub(%x: !t, %y: !t) -> !t {
  %0 = sv.sub %x, %y : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  return %1 : !t
}
