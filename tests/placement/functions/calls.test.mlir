!t = !sv.tensor<f32[n]>

func.func @main(%a: !t, %b: !t) -> (!t, !t) {
  %0 = sv.exp %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.call @twice(%1) : (!t) -> !t
  %3 = sv.abs %2 : (!t) -> !t
  %4 = sv.on_device %3 {place = "npu"} : (!t) -> !t
  %5 = sv.exp %b : (!t) -> !t
  %6 = sv.on_device %5 {place = "cpu"} : (!t) -> !t
  %7 = sv.call @twice(%6) : (!t) -> !t
  return %4, %7 : !t, !t
}

func.func private @twice(%x: !t) -> !t {
  %0 = sv.add %x, %x : (!t, !t) -> !t
  return %0 : !t
}
