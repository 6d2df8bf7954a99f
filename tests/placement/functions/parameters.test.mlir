!t = !sv.tensor<f32[n]>
!npu = !sv.tensor<f32[n], @npu>

func.func @func_param(%a: !t, %b: !t) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.call @add(%1, %b) : (!t, !t) -> !t
  return %2 : !t
}
func.func private @add(%x: !npu, %y: !t) -> !t {
  %0 = sv.add %x, %y : (!npu, !t) -> !t
  return %0 : !t
}

func.func @func_result(%a: !t, %b: !t) -> !t {
  %0 = sv.call @neg_to_npu(%a) : (!t) -> !npu
  %1 = sv.sub %0, %b : (!npu, !t) -> !t
  return %1 : !t
}
func.func private @neg_to_npu(%x: !t) -> !npu {
  %0 = sv.neg %x : (!t) -> !npu
  return %0 : !npu
}

func.func @inputs_and_results(%a: !npu, %b: !t) -> (!npu, !t) {
  %0 = sv.add %a, %b : (!npu, !t) -> !npu
  %1 = sv.neg %0 : (!npu) -> !t
  return %0, %1 : !npu, !t
}
