!t = !sv.tensor<f32[4096]>
func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %0 = sv.softmax %x {axis = 0 : i64} : (!t) -> !t loc("first")
  %a = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %1 = sv.cum_sum %a {axis = 0 : i64} : (!t) -> !t loc("second")
  %b = sv.on_device %1 {place = "npu"} : (!t) -> !t
  %2 = sv.softmax %b {axis = 0 : i64} : (!t) -> !t loc("third")
  %c = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  return %c : !t
}
