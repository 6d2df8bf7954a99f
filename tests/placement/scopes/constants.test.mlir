!t = !sv.tensor<f32[4]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %w = sv.constant {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : !t loc("w")
  %a = sv.on_device %w {place = "npu.global.a", constrain_result = true} : (!t) -> !t
  %0 = sv.add %x, %a : (!t, !t) -> !t
  return %0 : !t
}
