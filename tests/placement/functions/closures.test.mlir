!t = !sv.tensor<f32[n]>
!m = !sv.tensor<f32[m]>
!f = !sv.closure<(!m) -> !m>

func.func @higher_order(%a: !t, %by: !sv.tensor<f32[]>) -> !t {
  %0 = sv.exp %by : (!sv.tensor<f32[]>) -> !sv.tensor<f32[]>
  %1 = sv.on_device %0 {place = "npu"} : (!sv.tensor<f32[]>) -> !sv.tensor<f32[]>
  %f = sv.closure @scale(%1) : (!sv.tensor<f32[]>) -> !f
  %2 = sv.neg %a : (!t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %4 = sv.call_closure %f(%3) : (!f, !t) -> !t
  %5 = sv.abs %4 : (!t) -> !t
  %6 = sv.on_device %5 {place = "npu"} : (!t) -> !t
  return %6 : !t
}
func.func private @scale(%by: !sv.tensor<f32[]>, %x: !m) -> !m {
  %0 = sv.mul %x, %by : (!m, !sv.tensor<f32[]>) -> !m
  return %0 : !m
}

func.func @functions_of_functions(%a: !t, %by: !sv.tensor<f32[]>) -> !t {
  %0:2 = sv.call @pair(%by) : (!sv.tensor<f32[]>) -> (!f, !f)
  %1 = sv.call @apply(%0#0, %a) : (!f, !t) -> !t
  %2 = sv.call_closure %0#1(%1) : (!f, !t) -> !t
  return %2 : !t
}
func.func private @pair(%by: !sv.tensor<f32[]>) -> (!f, !f) {
  %0 = sv.closure @scale(%by) : (!sv.tensor<f32[]>) -> !f
  %1 = sv.closure @on_npu() : () -> !f
  return %0, %1 : !f, !f
}
func.func private @apply(%f: !f, %x: !m) -> !m {
  %0 = sv.call_closure %f(%x) : (!f, !m) -> !m
  return %0 : !m
}
func.func private @on_npu(%x: !m) -> !m {
  %0 = sv.neg %x : (!m) -> !m
  %1 = sv.on_device %0 {place = "npu"} : (!m) -> !m
  return %1 : !m
}

func.func @conditional(%c: !sv.tensor<bool[]>, %a: !t, %by: !sv.tensor<f32[]>) -> !t {
  %f = sv.if %c : (!sv.tensor<bool[]>) -> !f {
    %1 = sv.closure @scale(%by) : (!sv.tensor<f32[]>) -> !f
    sv.yield %1 : !f
  } else {
    %1 = sv.closure @on_npu() : () -> !f
    sv.yield %1 : !f
  }
  %0 = sv.call_closure %f(%a) : (!f, !t) -> !t
  return %0 : !t
}
