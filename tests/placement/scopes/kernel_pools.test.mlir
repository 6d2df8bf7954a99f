!t = !sv.tensor<f32[64, 64]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}, !t {sv.name = "z"}) {
  %0 = sv.softmax %x {axis = 0 : i64} : (!t) -> !t loc("first")
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.matmul %a, %a {sv.operand_scopes = ["global.fast", ""]} : (!t, !t) -> !t loc("product")
  %b = sv.on_device %1 {place = "npu"} : (!t) -> !t
  %2 = sv.cum_sum %a {axis = 0 : i64} : (!t) -> !t loc("sums")
  %c = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  return %b, %c : !t, !t
}
