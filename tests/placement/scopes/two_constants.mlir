!t = !sv.tensor<f32[16]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %w = sv.constant {value = dense<[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]> : tensor<16xf32>} : !t loc("w")
  %a = sv.on_device %w {place = "npu.global.a", constrain_result = true} : (!t) -> !t
  %v = sv.constant {value = dense<[5.0, 6.0, 7.0, 8.0, 5.0, 6.0, 7.0, 8.0, 5.0, 6.0, 7.0, 8.0, 5.0, 6.0, 7.0, 8.0]> : tensor<16xf32>} : !t loc("v")
  %b = sv.on_device %v {place = "npu.global.a", constrain_result = true} : (!t) -> !t
  %0 = sv.add %x, %a : (!t, !t) -> !t
  %1 = sv.cum_sum %0 {axis = 0 : i64} : (!t) -> !t
  %2 = sv.add %1, %b : (!t, !t) -> !t
  return %2 : !t
}
