!t = !sv.tensor<f32[n]>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %0 = sv.exp %x : (!t) -> !t loc("power")
  %1 = sv.on_device %0 {place = ".local"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t loc("turn")
  return %2 : !t
}
