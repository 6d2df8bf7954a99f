// @main calls @normalise between two pairs of ops. No value has more than one reader.
!row = !sv.tensor<f32[n]>
func.func @main(%x: !row {sv.name = "x"}) -> (!row {sv.name = "y"}) {
  %0 = sv.softmax %x {axis = 0 : i64} : (!row) -> !row
  %1 = sv.cum_sum %0 {axis = 0 : i64} : (!row) -> !row
  %2 = sv.call @normalise(%1) : (!row) -> !row
  %3 = sv.softmax %2 {axis = 0 : i64} : (!row) -> !row
  %4 = sv.cum_sum %3 {axis = 0 : i64} : (!row) -> !row
  return %4 : !row
}
func.func private @normalise(%x: !row) -> !row {
  %0 = sv.cum_sum %x {axis = 0 : i64} : (!row) -> !row
  %1 = sv.softmax %0 {axis = 0 : i64} : (!row) -> !row
  return %1 : !row
}
