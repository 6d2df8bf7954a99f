!f = !sv.tensor<f32[q]>
!k = !sv.tensor<f32[k]>
!sum = !sv.tensor<f32["min(1,q,3*k)*max(q,3*k)"]>
!sum_of = !sv.tensor<f32["min(1,$q,3*$k)*max($q,3*$k)"]>
func.func @main(%x: !f, %z: !k) -> (!sum, !sum, !sum, !sum) {
  %y = sv.tile %z {repeats = #sv.dims<[3]>} : (!k) -> !sv.tensor<f32["3*k"]>
  %sum = sv.add %x, %y : (!f, !sv.tensor<f32["3*k"]>) -> !sum
  // The same type, as an expression that remains one.
  %other = sv.reshape %sum {dims = #sv.dims<["min(1,q,3*k)*max(q,3*k)"]>} : (!sum) -> !sum
  %0 = sv.call @negated(%sum, %x, %z) : (!sum, !f, !k) -> !sum
  %1 = sv.call @negated(%other, %x, %z) : (!sum, !f, !k) -> !sum
  %zero = sv.constant {value = dense<0.0> : tensor<1xf32>} : !sv.tensor<f32[1]>
  %total = sv.reduce_sum %z {axes = array<i64: 0>} : (!k) -> !sv.tensor<f32[1]>
  %less = sv.less %zero, %total : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.tensor<bool[1]>
  %c = sv.reshape %less {dims = #sv.dims<[]>} : (!sv.tensor<bool[1]>) -> !sv.tensor<bool[]>
  %2 = sv.if %c : (!sv.tensor<bool[]>) -> !sum {
    %3 = sv.add %sum, %sum : (!sum, !sum) -> !sum
    sv.yield %3 : !sum
  } else {
    %3 = sv.neg %other : (!sum) -> !sum
    sv.yield %3 : !sum
  }
  %4 = sv.loop %sum {index = "$i", trip_count = #sv.dims<[3]>} : (!sum) -> !sum {
  ^bb0(%s: !sum):
    %5 = sv.add %s, %s : (!sum, !sum) -> !sum
    %6 = sv.reshape %5 {dims = #sv.dims<["min(1,q,3*k)*max(q,3*k)"]>} : (!sum) -> !sum
    sv.yield %6 : !sum
  }
  return %0, %1, %2, %4 : !sum, !sum, !sum, !sum
}
func.func private @negated(%x: !sum_of, %a: !sv.tensor<f32["$q"]>, %b: !sv.tensor<f32["$k"]>) -> !sum_of {
  %0 = sv.neg %x : (!sum_of) -> !sum_of
  return %0 : !sum_of
}
