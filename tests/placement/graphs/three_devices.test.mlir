!t = !sv.tensor<f32[n]>

func.func @broadcast(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.neg %a : (!t) -> !t
  %b = sv.on_device %1 {place = "dsp"} : (!t) -> !t
  %2 = sv.abs %a : (!t) -> !t
  %c = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  %3 = sv.add %a, %b : (!t, !t) -> !t
  %d = sv.on_device %3 {place = "dsp"} : (!t) -> !t
  %4 = sv.add %c, %d : (!t, !t) -> !t
  return %4 : !t
}

func.func @tie(%x: !t, %y: !t) -> (!t, !t) {
  %0 = sv.exp %x : (!t) -> !t
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.exp %y : (!t) -> !t
  %b = sv.on_device %1 {place = "dsp"} : (!t) -> !t
  %2 = sv.mul %a, %b : (!t, !t) -> !t
  %3 = sv.neg %2 : (!t) -> !t
  %c = sv.on_device %3 {place = "npu"} : (!t) -> !t
  %4 = sv.abs %2 : (!t) -> !t
  %d = sv.on_device %4 {place = "dsp"} : (!t) -> !t
  return %c, %d : !t, !t
}

func.func @tie_in_another_order(%x: !t, %y: !t) -> (!t, !t) {
  %1 = sv.exp %y : (!t) -> !t
  %b = sv.on_device %1 {place = "dsp"} : (!t) -> !t
  %0 = sv.exp %x : (!t) -> !t
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.mul %a, %b : (!t, !t) -> !t
  %4 = sv.abs %2 : (!t) -> !t
  %d = sv.on_device %4 {place = "dsp"} : (!t) -> !t
  %3 = sv.neg %2 : (!t) -> !t
  %c = sv.on_device %3 {place = "npu"} : (!t) -> !t
  return %c, %d : !t, !t
}
