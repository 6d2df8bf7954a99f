!t = !sv.tensor<f32[n, 8]>
!w = !sv.tensor<f32[8]>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}, !w {sv.name = "z"}) {
  %a = sv.constant {value = dense<2.0> : tensor<8xf32>} : !w loc("a")
  %rom = sv.on_device %a {place = "npu.global.rom"} : (!w) -> !w
  %b = sv.constant {value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>} : !w loc("b")
  %flash = sv.on_device %b {place = "npu.global.flash"} : (!w) -> !w
  %0 = sv.mul %x, %rom : (!t, !w) -> !t loc("mul")
  %1 = sv.cum_sum %0 {axis = 0 : i64} : (!t) -> !t loc("sum")
  %2 = sv.add %1, %flash : (!t, !w) -> !t loc("add")
  return %2, %flash : !t, !w
}
