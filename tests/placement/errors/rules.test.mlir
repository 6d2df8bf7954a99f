!t = !sv.tensor<f32[n]>
func.func @main(%x: !t) -> !t {
  %0 = sv.add %x, %x : (!t, !t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  return %2 : !t
}
