func.func private @again(%x: !sv.tensor<i64[]>) -> !sv.tensor<bool[]> {
  %0 = sv.constant {value = dense<2> : tensor<i64>} : !sv.tensor<i64[]>
  %1 = sv.less %x, %0 : (!sv.tensor<i64[]>, !sv.tensor<i64[]>) -> !sv.tensor<bool[]>
  return %1 : !sv.tensor<bool[]>
}
func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "x"}) -> (!sv.tensor<f32[n]> {sv.name = "y"}) {
  %0 = sv.loop %x {has_condition = true, index = "$i", trip_count = #sv.dims<["n"]>} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  ^bb0(%carried: !sv.tensor<f32[n]>):
    %1 = sv.dims_tensor {dims = #sv.dims<["$i"]>, scalar = true} : () -> !sv.tensor<i64[]>
    %2 = sv.call @again(%1) : (!sv.tensor<i64[]>) -> !sv.tensor<bool[]>
    %3 = sv.neg %carried : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %2, %3 : !sv.tensor<bool[]>, !sv.tensor<f32[n]>
  }
  return %0 : !sv.tensor<f32[n]>
}
