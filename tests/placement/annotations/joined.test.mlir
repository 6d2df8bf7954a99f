!t = !sv.tensor<f32[n]>
!npu = !sv.tensor<f32[n], @npu>
!dsp = !sv.tensor<f32[n], @dsp>

func.func @scope_and_device(%x: !t) -> !dsp {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "dsp.global.fast"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "dsp"} : (!t) -> !t
  %3 = sv.exp %2 : (!t) -> !dsp
  return %3 : !dsp
}

func.func @open_scope(%x: !t) -> !dsp {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = ".global.fast"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "dsp"} : (!t) -> !t
  %3 = sv.exp %2 : (!t) -> !dsp
  return %3 : !dsp
}

func.func @third_differs(%x: !t) -> !npu {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "dsp"} : (!t) -> !t
  %2 = sv.on_device %1 {place = ".global.fast"} : (!t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %4 = sv.exp %3 : (!t) -> !npu
  return %4 : !npu
}

func.func @no_constraint_inside(%x: !t) -> !dsp {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_body = false} : (!t) -> !t
  %2 = sv.on_device %1 {place = "dsp"} : (!t) -> !dsp
  return %2 : !dsp
}

func.func @two_outer(%x: !t) -> (!dsp, !npu) {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = ".global.fast"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "dsp"} : (!t) -> !t
  %3 = sv.on_device %1 {place = "npu"} : (!t) -> !t
  %4 = sv.exp %2 : (!t) -> !dsp
  %5 = sv.exp %3 : (!t) -> !npu
  return %4, %5 : !dsp, !npu
}
