!t = !sv.tensor<f32[n]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %0 = sv.exp %x {sv.result_scopes = ["global.b"]} : (!t) -> !t loc("maker")
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.abs %a {sv.operand_scopes = ["global.a"]} : (!t) -> !t loc("reader")
  %b = sv.on_device %1 {place = "npu"} : (!t) -> !t
  return %b : !t
}
