!t = !sv.tensor<f32[n]>

func.func @reader(%a: !t, %b: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_body = false, constrain_result = true} : (!t) -> !t
  %2 = sv.sub %1, %b : (!t, !t) -> !t
  return %2 : !t
}

func.func @both(%a: !t, %b: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_result = true} : (!t) -> !t
  %2 = sv.sub %1, %b : (!t, !t) -> !t
  return %2 : !t
}

func.func @reader_of_a_placed_value(%a: !t, %b: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "npu", constrain_body = false, constrain_result = true} : (!t) -> !t
  %3 = sv.sub %2, %b : (!t, !t) -> !t
  return %3 : !t
}

func.func @nothing(%a: !t, %b: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_body = false} : (!t) -> !t
  %2 = sv.sub %1, %b : (!t, !t) -> !t
  return %2 : !t
}
