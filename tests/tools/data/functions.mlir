// @main calls @scores at two shapes, @places (data-dependent result) and @power (recursive).
!f = !sv.tensor<f32[]>
!i = !sv.tensor<i64[]>
!b = !sv.tensor<bool[]>
!rows = !sv.tensor<f32[n, 4]>
!wide = !sv.tensor<f32["2*n", 4]>
!places = !sv.tensor<i64[2, "$k"]>

func.func private @scores(%x: !sv.tensor<f32[rows, 4]> {sv.name = "x"}) -> !sv.tensor<f32[rows, 4]> {
  %0 = sv.softmax %x {axis = 1 : i64} : (!sv.tensor<f32[rows, 4]>) -> !sv.tensor<f32[rows, 4]>
  %1 = sv.transpose %0 {permutation = array<i64: 1, 0>} : (!sv.tensor<f32[rows, 4]>) -> !sv.tensor<f32[4, rows]>
  %2 = sv.softmax %1 {axis = 1 : i64} : (!sv.tensor<f32[4, rows]>) -> !sv.tensor<f32[4, rows]>
  %3 = sv.transpose %2 {permutation = array<i64: 1, 0>} : (!sv.tensor<f32[4, rows]>) -> !sv.tensor<f32[rows, 4]>
  return %3 : !sv.tensor<f32[rows, 4]>
}

func.func private @places(%x: !rows {sv.name = "x"}) -> !places {
  %starts, %count = sv.count_nonzero %x : (!rows) -> (!sv.tensor<i64["floordiv(4*n+4095, 4096)"]>, !sv.tensor<i64[1]>)
  sv.read_dims %count {symbols = ["$k"]} : !sv.tensor<i64[1]>
  %0 = sv.nonzero %x, %starts {count = #sv.dims<["$k"]>} : (!rows, !sv.tensor<i64["floordiv(4*n+4095, 4096)"]>) -> !places
  return %0 : !places
}

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

func.func private @unused(%x: !f) -> !f {
  return %x : !f
}

func.func @main(%x: !rows {sv.name = "x"}, %y: !f {sv.name = "y"}, %n: !i {sv.name = "times"})
    -> (!wide {sv.name = "scores"}, !places {sv.name = "places"}, !f {sv.name = "power"}) {
  %0 = sv.call @scores(%x) : (!rows) -> !rows
  %1 = sv.concat %x, %0 {axis = 0 : i64} : (!rows, !rows) -> !wide
  %2 = sv.call @scores(%1) : (!wide) -> !wide
  %3 = sv.call @places(%0) {symbols = ["$k"]} : (!rows) -> !places
  %4 = sv.call @power(%y, %n) : (!f, !i) -> !f
  return %2, %3, %4 : !wide, !places, !f
}
