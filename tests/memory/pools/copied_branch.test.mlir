module {
  func.func @main(%x: !sv.tensor<i64[2]> {sv.name = "x"}, %c: !sv.tensor<bool[]> {sv.name = "c"})
      -> (!sv.tensor<i64["$m"]> {sv.name = "y"}) {
    %r = sv.if %c {symbols = ["$m"]} : (!sv.tensor<bool[]>) -> !sv.tensor<i64["$m"]> {
      %a = sv.abs %x : (!sv.tensor<i64[2]>) -> !sv.tensor<i64[2]>
      sv.yield %a : !sv.tensor<i64[2]>
    } else {
      %b = sv.concat %x, %x {axis = 0 : i64} : (!sv.tensor<i64[2]>, !sv.tensor<i64[2]>) -> !sv.tensor<i64[4]>
      sv.yield %b : !sv.tensor<i64[4]>
    }
    %y = sv.cum_sum %r {axis = 0 : i64} : (!sv.tensor<i64["$m"]>) -> !sv.tensor<i64["$m"]>
    return %y : !sv.tensor<i64["$m"]>
  }
}
