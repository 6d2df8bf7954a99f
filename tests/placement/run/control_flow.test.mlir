!t = !sv.tensor<f32[n]>
!bool = !sv.tensor<bool[]>

func.func @main(%c: !bool {sv.name = "c"}, %x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}, !sv.tensor<f32[4, n]> {sv.name = "z"}) {
  %0 = sv.if %c : (!bool) -> !t {
    %1 = sv.exp %x : (!t) -> !t
    sv.yield %1 : !t
  } else {
    %1 = sv.tanh %x : (!t) -> !t
    sv.yield %1 : !t
  }
  %2:2 = sv.loop %0 {index = "$i", trip_count = #sv.dims<[4]>} : (!t) -> (!t, !sv.tensor<f32[4, n]>) {
  ^bb0(%s: !t):
    %3 = sv.sin %s : (!t) -> !t
    %4 = sv.call @affine(%3) : (!t) -> !t
    sv.yield %4, %3 : !t, !t
  }
  %5 = sv.call @affine(%2#0) : (!t) -> !t
  return %5, %2#1 : !t, !sv.tensor<f32[4, n]>
}

func.func private @affine(%x: !t) -> !t {
  %two = sv.constant {value = dense<2.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.mul %x, %two : (!t, !sv.tensor<f32[]>) -> !t
  %1 = sv.sqrt %0 : (!t) -> !t
  return %1 : !t
}
