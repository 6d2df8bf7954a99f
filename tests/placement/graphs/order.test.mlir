!t = !sv.tensor<f32[n]>

func.func @first(%x: !t, %y: !t) -> (!t, !t) {
  %0 = sv.exp %x : (!t) -> !t
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.log %y : (!t) -> !t
  %b = sv.on_device %1 {place = "dsp"} : (!t) -> !t
  %2 = sv.mul %a, %b : (!t, !t) -> !t
  %3 = sv.sqrt %2 : (!t) -> !t
  %4 = sv.neg %3 : (!t) -> !t
  %c = sv.on_device %4 {place = "npu"} : (!t) -> !t
  %5 = sv.abs %2 : (!t) -> !t
  %d = sv.on_device %5 {place = "dsp"} : (!t) -> !t
  return %c, %d : !t, !t
}

func.func @second(%x: !t, %y: !t) -> (!t, !t) {
  %1 = sv.log %y : (!t) -> !t
  %b = sv.on_device %1 {place = "dsp"} : (!t) -> !t
  %0 = sv.exp %x : (!t) -> !t
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.mul %b, %a : (!t, !t) -> !t
  %5 = sv.abs %2 : (!t) -> !t
  %d = sv.on_device %5 {place = "dsp"} : (!t) -> !t
  %3 = sv.sqrt %2 : (!t) -> !t
  %4 = sv.neg %3 : (!t) -> !t
  %c = sv.on_device %4 {place = "npu"} : (!t) -> !t
  return %c, %d : !t, !t
}

func.func @calls(%x: !t, %y: !t) -> (!t, !t) {
  %0 = sv.exp %x : (!t) -> !t
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.call @mean(%a, %y) : (!t, !t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %b = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %3 = sv.call @mean(%y, %y) : (!t, !t) -> !t
  return %b, %3 : !t, !t
}

func.func private @mean(%x: !t, %y: !t) -> !t {
  %0 = sv.add %x, %y : (!t, !t) -> !t
  %half = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
  %1 = sv.mul %0, %half : (!t, !sv.tensor<f32[]>) -> !t
  return %1 : !t
}
