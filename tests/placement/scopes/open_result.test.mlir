!t = !sv.tensor<f32[n]>

func.func @main(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}, !t {sv.name = "z"}) {
  %0 = sv.tanh %x : (!t) -> !t loc("t")
  %1 = sv.neg %0 : (!t) -> !t loc("u")
  return %0, %1 : !t, !t
}
