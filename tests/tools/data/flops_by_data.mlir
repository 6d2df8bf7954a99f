func.func @main(%x: !sv.tensor<f32[n, 4]> {sv.name = "x"}) -> (!sv.tensor<f32[2, "$k"]> {sv.name = "y"}) {
  %starts, %count = sv.count_nonzero %x : (!sv.tensor<f32[n, 4]>) -> (!sv.tensor<i64["floordiv(4*n+4095, 4096)"]>, !sv.tensor<i64[1]>)
  sv.read_dims %count {symbols = ["$k"]} : !sv.tensor<i64[1]>
  %0 = sv.nonzero %x, %starts {count = #sv.dims<["$k"]>} : (!sv.tensor<f32[n, 4]>, !sv.tensor<i64["floordiv(4*n+4095, 4096)"]>) -> !sv.tensor<i64[2, "$k"]>
  %1 = sv.cast %0 {to = "f32"} : (!sv.tensor<i64[2, "$k"]>) -> !sv.tensor<f32[2, "$k"]>
  %2 = sv.exp %1 : (!sv.tensor<f32[2, "$k"]>) -> !sv.tensor<f32[2, "$k"]>
  return %2 : !sv.tensor<f32[2, "$k"]>
}
