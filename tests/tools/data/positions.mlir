// The positions of the elements of x that are not zero.
func.func @main(%x: !sv.tensor<i64[3]> {sv.name = "x"}) -> (!sv.tensor<i64[1, "$k"]> {sv.name = "places"}) {
  %starts, %count = sv.count_nonzero %x : (!sv.tensor<i64[3]>) -> (!sv.tensor<i64[1]>, !sv.tensor<i64[1]>)
  sv.read_dims %count {symbols = ["$k"]} : !sv.tensor<i64[1]>
  %0 = sv.nonzero %x, %starts {count = #sv.dims<["$k"]>} : (!sv.tensor<i64[3]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[1, "$k"]>
  return %0 : !sv.tensor<i64[1, "$k"]>
}
