!t = !sv.tensor<f32[n]>

func.func @inner_and_outer(%a: !t, %b: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
  %3 = sv.sub %2, %b : (!t, !t) -> !t
  %4 = sv.on_device %3 {place = "npu"} : (!t) -> !t
  return %4 : !t
}

func.func @there_and_back(%a: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "cpu"} : (!t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %4 = sv.abs %3 : (!t) -> !t
  %5 = sv.on_device %4 {place = "npu"} : (!t) -> !t
  return %5 : !t
}

func.func @on_an_input(%a: !t) -> !t {
  %0 = sv.on_device %a {place = "npu"} : (!t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  return %3 : !t
}

func.func @reader_of_the_outer_one(%a: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "npu", constrain_result = true} : (!t) -> !t
  %3 = sv.abs %2 : (!t) -> !t
  return %3 : !t
}

func.func @inner_fixed(%a: !t, %b: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_result = true} : (!t) -> !t
  %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
  %3 = sv.sub %2, %b : (!t, !t) -> !t
  return %3 : !t
}
