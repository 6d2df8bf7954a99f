!t = !sv.tensor<f32[n]>

func.func @left_add_via_copy(%a: !t, %b: !t, %c: !t, %d: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.device_copy %0 {from = "npu", to = "cpu"} : (!t) -> !t
  %2 = sv.add %c, %d : (!t, !t) -> !t
  %3 = sv.sub %1, %2 : (!t, !t) -> !t
  return %3 : !t
}

func.func @of_a_constant(%x: !t) -> !t {
  %c = sv.constant {value = dense<2.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.mul %x, %c : (!t, !sv.tensor<f32[]>) -> !t
  %1 = sv.device_copy %0 {to = "npu"} : (!t) -> !t
  %2 = sv.mul %1, %c : (!t, !sv.tensor<f32[]>) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  return %3 : !t
}

func.func @to_where_it_is(%a: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.device_copy %0 {from = "cpu", to = "cpu"} : (!t) -> !t
  return %1 : !t
}

func.func @chain(%a: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.device_copy %0 {from = "cpu", to = "npu"} : (!t) -> !t
  %2 = sv.device_copy %1 {from = "npu", to = "cpu"} : (!t) -> !t
  %3 = sv.device_copy %2 {from = "cpu", to = "npu"} : (!t) -> !t
  %4 = sv.abs %3 : (!t) -> !t
  %5 = sv.on_device %4 {place = "npu"} : (!t) -> !t
  return %5 : !t
}

func.func @two_of_one_value(%a: !t) -> (!t, !t) {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.device_copy %0 {from = "cpu", to = "npu"} : (!t) -> !t
  %2 = sv.device_copy %0 {from = "cpu", to = "npu"} : (!t) -> !t
  %3 = sv.abs %1 : (!t) -> !t
  %4 = sv.on_device %3 {place = "npu"} : (!t) -> !t
  %5 = sv.exp %2 : (!t) -> !t
  %6 = sv.on_device %5 {place = "npu"} : (!t) -> !t
  return %4, %6 : !t, !t
}

func.func @shares_with_its_operand(%a: !t) -> (!t, !t) {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.device_copy %1 {to = "npu"} : (!t) -> !t
  %3 = sv.abs %2 : (!t) -> !t
  %4 = sv.on_device %3 {place = "cpu"} : (!t) -> !t
  %5 = sv.exp %1 : (!t) -> !t
  %6 = sv.on_device %5 {place = "cpu"} : (!t) -> !t
  return %4, %6 : !t, !t
}

func.func @unread(%a: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.device_copy %0 {to = "npu"} : (!t) -> !t
  return %0 : !t
}
