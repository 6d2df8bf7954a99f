// @main and its callee @rows have intermediate values. One value of @main is an argument of @rows.
!v = !sv.tensor<f32[4]>
!m = !sv.tensor<f32[4, 4]>
func.func private @rows(%x: !m) -> !v {
  %0 = sv.softmax %x {axis = 1 : i64} : (!m) -> !m
  %1 = sv.reduce_max %0 {axes = array<i64: 1>, keep_dims = false} : (!m) -> !v
  return %1 : !v
}
func.func @main(%x: !m) -> (!v {sv.name = "y"}) {
  %0 = sv.softmax %x {axis = 0 : i64} : (!m) -> !m
  %1 = sv.call @rows(%0) : (!m) -> !v
  %2 = sv.call @rows(%x) : (!m) -> !v
  %3 = sv.add %1, %2 : (!v, !v) -> !v
  return %3 : !v
}
