// Runtime-defined symbols: elements of an input, and the iteration count of a loop.
func.func @main(%sizes: !sv.tensor<i64[2]> {sv.name = "sizes"}, %x: !sv.tensor<f32[n]> {sv.name = "x"})
    -> (!sv.tensor<f32["$rows", n]> {sv.name = "rows"}, !sv.tensor<f32["min(1, $width)*max($width, n)"]> {sv.name = "wide"}) {
  sv.read_dims %sizes {symbols = ["$rows", "$width"]} : !sv.tensor<i64[2]> loc("sizes_1")
  %0:2 = sv.loop %x {index = "$i", trip_count = #sv.dims<["$rows"]>}
      : (!sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32["$rows", n]>) {
  ^bb0(%s: !sv.tensor<f32[n]>):
    %1 = sv.add %s, %x : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> loc("sum_2")
    sv.yield %1, %1 : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
  } loc("loop_3")
  %2 = sv.iota {size = #sv.dims<["$width"]>, start = 0 : i64, step = 1 : i64, dtype = "f32"} : () -> !sv.tensor<f32["$width"]> loc("range_4")
  %3 = sv.add %2, %0#0 : (!sv.tensor<f32["$width"]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32["min(1, $width)*max($width, n)"]> loc("add_5")
  return %0#1, %3 : !sv.tensor<f32["$rows", n]>, !sv.tensor<f32["min(1, $width)*max($width, n)"]>
}
