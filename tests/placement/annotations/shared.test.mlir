!t = !sv.tensor<f32[n]>

func.func @sharing(%a: !t, %b: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %3 = sv.sub %1, %2 : (!t, !t) -> !t
  %4 = sv.on_device %3 {place = "cpu"} : (!t) -> !t
  return %4 : !t
}

func.func @three_uses(%a: !t, %b: !t) -> (!t, !t, !t) {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  %4 = sv.abs %1 : (!t) -> !t
  %5 = sv.on_device %4 {place = "cpu"} : (!t) -> !t
  %6 = sv.exp %1 : (!t) -> !t
  %7 = sv.on_device %6 {place = "cpu"} : (!t) -> !t
  return %3, %5, %7 : !t, !t, !t
}

func.func @readers_on_both(%a: !t, %b: !t) -> (!t, !t) {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  %4 = sv.abs %1 : (!t) -> !t
  %5 = sv.on_device %4 {place = "npu"} : (!t) -> !t
  %6 = sv.add %3, %5 : (!t, !t) -> !t
  return %3, %6 : !t, !t
}

func.func @conflicted_inputs(%a: !t, %b: !t, %c: !t, %d: !t) -> !t {
  %0 = sv.log %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.log %b : (!t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %4 = sv.add %1, %3 : (!t, !t) -> !t
  %5 = sv.on_device %4 {place = "cpu"} : (!t) -> !t
  %6 = sv.mul %3, %1 : (!t, !t) -> !t
  %7 = sv.on_device %6 {place = "npu"} : (!t) -> !t
  %8 = sv.sub %5, %7 : (!t, !t) -> !t
  %9 = sv.on_device %8 {place = "cpu"} : (!t) -> !t
  return %9 : !t
}

func.func @input_of_two_devices(%a: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.abs %a : (!t) -> !t
  %3 = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  %4 = sv.add %1, %3 : (!t, !t) -> !t
  %5 = sv.on_device %4 {place = "cpu"} : (!t) -> !t
  return %5 : !t
}

func.func @shared_value_of_an_input_elsewhere(%a: !t) -> !t {
  %0 = sv.exp %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  %4 = sv.abs %3 : (!t) -> !t
  %5 = sv.on_device %4 {place = "npu"} : (!t) -> !t
  %6 = sv.sqrt %3 : (!t) -> !t
  %7 = sv.on_device %6 {place = "cpu"} : (!t) -> !t
  %8 = sv.add %7, %5 : (!t, !t) -> !t
  %9 = sv.on_device %8 {place = "cpu"} : (!t) -> !t
  return %9 : !t
}
