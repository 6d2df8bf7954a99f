// "large" and "row" are live at the same time, and "row" and "sum" until the last step.
!t = !sv.tensor<f32[64, 64]>
!v = !sv.tensor<f32[64]>
func.func @main(%x: !t {sv.name = "x"}) -> (!v {sv.name = "y"}) {
  %large = sv.cum_sum %x {axis = 0} : (!t) -> !t loc("large")
  %row = sv.reduce_max %large {axes = array<i64: 0>, keep_dims = false} : (!t) -> !v loc("row")
  %sum = sv.cum_sum %row {axis = 0} : (!v) -> !v loc("sum")
  %y = sv.add %sum, %row : (!v, !v) -> !v loc("last")
  return %y : !v
}
