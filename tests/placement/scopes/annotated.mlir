!t = !sv.tensor<f32[n]>
func.func @main(%x: !t {sv.name = "x"}) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %a = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %b = sv.on_device %0 {place = ".global.a"} : (!t) -> !t
  %c = sv.on_device %0 {place = ".global.b", constrain_body = false, constrain_result = true} : (!t) -> !t
  %1 = sv.exp %c : (!t) -> !t
  %d = sv.on_device %1 {place = "npu"} : (!t) -> !t
  %2 = sv.add %b, %d : (!t, !t) -> !t
  %e = sv.on_device %2 {place = "npu"} : (!t) -> !t
  return %e : !t
}
