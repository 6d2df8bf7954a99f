// The sizes of the first loop are loop-invariant. The body of the second loop uses the loop index.
!t = !sv.tensor<f32[n]>
func.func @main(%x: !t) -> (!t, !t) {
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<[5]>} : (!t) -> !t {
  ^bb0(%state: !t):
    %next = sv.tanh %state : (!t) -> !t
    sv.yield %next : !t
  } loc("invariant")
  %1 = sv.loop %x {index = "$j", trip_count = #sv.dims<[5]>} : (!t) -> !t {
  ^bb0(%state: !t):
    %j = sv.dims_tensor {dims = #sv.dims<["$j"]>, scalar = true} : () -> !sv.tensor<i64[]>
    %count = sv.cast %j {to = "f32"} : (!sv.tensor<i64[]>) -> !sv.tensor<f32[]>
    %next = sv.mul %state, %count : (!t, !sv.tensor<f32[]>) -> !t
    sv.yield %next : !t
  } loc("counting")
  return %0, %1 : !t, !t
}
