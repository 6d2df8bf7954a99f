!t = !sv.tensor<f32[n]>

func.func @left_add(%a: !t, %b: !t, %c: !t, %d: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.add %c, %d : (!t, !t) -> !t
  %3 = sv.sub %1, %2 : (!t, !t) -> !t
  return %3 : !t
}

func.func @both_adds(%a: !t, %b: !t, %c: !t, %d: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.add %c, %d : (!t, !t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %4 = sv.sub %1, %3 : (!t, !t) -> !t
  return %4 : !t
}

func.func @both_adds_and_the_reader(%a: !t, %b: !t, %c: !t, %d: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.add %c, %d : (!t, !t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %4 = sv.sub %1, %3 : (!t, !t) -> !t
  %5 = sv.on_device %4 {place = "cpu"} : (!t) -> !t
  return %5 : !t
}

func.func @annotate_expr(%a: !t, %b: !t, %c: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.add %1, %c : (!t, !t) -> !t
  %3 = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  return %3 : !t
}

func.func @annotate_all(%a: !t, %b: !t, %c: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.add %1, %c : (!t, !t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  return %3 : !t
}

func.func @redundant(%a: !t, %b: !t, %c: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %4 = sv.sub %3, %c : (!t, !t) -> !t
  %5 = sv.on_device %4 {place = "cpu"} : (!t) -> !t
  %6 = sv.on_device %5 {place = "cpu"} : (!t) -> !t
  return %6 : !t
}
