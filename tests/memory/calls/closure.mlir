// A closure with one possible function.
!row = !sv.tensor<f32[n]>
!scalar = !sv.tensor<f32[]>
!bool = !sv.tensor<bool[]>
!unary = !sv.closure<(!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>>
func.func @main(%x: !row {sv.name = "x"}, %by: !scalar {sv.name = "by"}) -> (!row {sv.name = "y"}) {
  %f = sv.closure @scale(%by) : (!scalar) -> !unary
  %0 = sv.neg %x : (!row) -> !row
  %1 = sv.call_closure %f(%0) : (!unary, !row) -> !row
  %2 = sv.cum_sum %1 {axis = 0 : i64} : (!row) -> !row
  return %2 : !row
}
func.func private @scale(%by: !scalar, %x: !row) -> !row {
  %0 = sv.softmax %x {axis = 0 : i64} : (!row) -> !row
  %1 = sv.mul %0, %by : (!row, !scalar) -> !row
  return %1 : !row
}
