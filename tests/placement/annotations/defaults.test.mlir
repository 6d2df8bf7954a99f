!t = !sv.tensor<f32[n]>

func.func @plain(%a: !t, %b: !t, %c: !t, %d: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %1 = sv.add %c, %d : (!t, !t) -> !t
  %2 = sv.sub %0, %1 : (!t, !t) -> !t
  return %2 : !t
}
