!t = !sv.tensor<f32[4]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %w = sv.constant {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : !t
  %0 = sv.neg %w : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "cpu", constrain_result = true} : (!t) -> !t
  %3 = sv.add %2, %x : (!t, !t) -> !t
  return %3 : !t
}

func.func @not_the_operand(%x: !t) -> (!t, !t) {
  %zero = sv.constant {value = dense<-0.0> : tensor<4xf32>} : !t
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.add %0, %zero : (!t, !t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  return %1, %3 : !t, !t
}

func.func @unused_annotation(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  return %0 : !t
}

func.func @unused_op(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "cpu"} : (!t) -> !t
  return %x : !t
}
