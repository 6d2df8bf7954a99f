!t = !sv.tensor<f32[n]>
!a = !sv.tensor<f32[n], @npu.global.a>
!b = !sv.tensor<f32[n], @npu.global.b>

func.func @main(%x: !a) -> !b {
  %0 = sv.neg %x : (!a) -> !b
  return %0 : !b
}

func.func @calls(%x: !a, %y: !b) -> (!a, !b) {
  %0 = sv.call @in_b(%x) : (!a) -> !b
  %1 = sv.call @in_b(%y) : (!b) -> !b
  %2 = sv.device_copy %0 {to = "npu.global.a"} : (!b) -> !a
  return %2, %1 : !a, !b
}

func.func @joins(%x: !t) -> !b {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_body = false} : (!t) -> !t
  %2 = sv.call @in_b(%1) : (!t) -> !b
  return %2 : !b
}
func.func private @in_b(%x: !b) -> !b {
  %0 = sv.neg %x : (!b) -> !b
  return %0 : !b
}
