!t = !sv.tensor<f32[n]>
!bool = !sv.tensor<bool[]>

func.func @plain(%a: !t, %b: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  return %0 : !t
}

func.func @condition(%c: !bool, %a: !t) -> !t {
  %0 = sv.not %c : (!bool) -> !bool
  %1 = sv.if %0 : (!bool) -> !t {
    %2 = sv.neg %a : (!t) -> !t
    sv.yield %2 : !t
  } else {
    sv.yield %a : !t
  }
  return %1 : !t
}
