!x = !sv.tensor<f32[n, 64]>
!w = !sv.tensor<f32[64, 64]>

func.func @main(%x: !x {sv.name = "x"}, %w: !w {sv.name = "w"}, %v: !w {sv.name = "v"})
    -> (!x {sv.name = "y"}, !x {sv.name = "z"}) {
  %0 = sv.matmul %x, %w : (!x, !w) -> !x
  %1 = sv.tanh %0 : (!x) -> !x
  %2 = sv.loop %x {index = "$i", trip_count = #sv.dims<["2*n"]>} : (!x) -> !x {
  ^bb0(%s: !x):
    %3 = sv.exp %s : (!x) -> !x
    %4 = sv.softmax %3 {axis = 1 : i64} : (!x) -> !x
    sv.yield %4 : !x
  }
  %5 = sv.call @called(%2, %v) : (!x, !w) -> !x
  return %1, %5 : !x, !x
}

!r = !sv.tensor<f32[rows, 64]>
func.func private @called(%r: !r, %w: !w) -> !r {
  %0 = sv.matmul %r, %w : (!r, !w) -> !r
  %1 = sv.tanh %0 : (!r) -> !r
  %2 = sv.loop %1 {index = "$i", trip_count = #sv.dims<[rows]>} : (!r) -> !r {
  ^bb0(%s: !r):
    %3 = sv.exp %s : (!r) -> !r
    %4 = sv.softmax %3 {axis = 1 : i64} : (!r) -> !r
    sv.yield %4 : !r
  }
  return %2 : !r
}
