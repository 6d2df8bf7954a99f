// A recursive function, and the positions of the elements that are not zero.
!f = !sv.tensor<f32[]>
!i = !sv.tensor<i64[]>
!b = !sv.tensor<bool[]>
!rows = !sv.tensor<f32[n, 4]>
!places = !sv.tensor<i64[2, "$k"]>

func.func private @power(%x: !f {sv.name = "x"}, %n: !i {sv.name = "n"}) -> !f {
  %one = sv.constant {value = dense<1> : tensor<i64>} : !i
  %c = sv.less_equal %n, %one : (!i, !i) -> !b
  %0 = sv.if %c : (!b) -> !f {
    sv.yield %x : !f
  } else {
    %1 = sv.sub %n, %one : (!i, !i) -> !i
    %2 = sv.call @power(%x, %1) : (!f, !i) -> !f
    %3 = sv.mul %x, %2 : (!f, !f) -> !f
    sv.yield %3 : !f
  }
  return %0 : !f
}

func.func @main(%x: !rows {sv.name = "x"}, %y: !f {sv.name = "y"}, %n: !i {sv.name = "times"})
    -> (!places {sv.name = "places"}, !f {sv.name = "power"}) {
  %starts, %count = sv.count_nonzero %x : (!rows) -> (!sv.tensor<i64["floordiv(4*n+4095, 4096)"]>, !sv.tensor<i64[1]>)
  sv.read_dims %count {symbols = ["$k"]} : !sv.tensor<i64[1]>
  %0 = sv.nonzero %x, %starts {count = #sv.dims<["$k"]>} : (!rows, !sv.tensor<i64["floordiv(4*n+4095, 4096)"]>) -> !places
  %1 = sv.call @power(%y, %n) : (!f, !i) -> !f
  return %0, %1 : !places, !f
}
