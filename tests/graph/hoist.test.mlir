// h := tanh(x[i] * w + h * r). The products x[i] * w become one product before the loop.
func.func @recurrence(%x: !sv.tensor<f32[t, n, 3]>, %h: !sv.tensor<f32[n, 4]>,
    %w: !sv.tensor<f32[3, 4]>, %r: !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[n, 4]> {
  %0 = sv.loop %h {index = "$i", trip_count = #sv.dims<[t]>}
      : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]> {
  ^bb0(%s: !sv.tensor<f32[n, 4]>):
    %i = sv.dims_tensor {dims = #sv.dims<["$i"]>, scalar = true} : () -> !sv.tensor<i64[]>
    %1 = sv.gather %x, %i {axis = 0 : i64}
        : (!sv.tensor<f32[t, n, 3]>, !sv.tensor<i64[]>) -> !sv.tensor<f32[n, 3]>
    %2 = sv.matmul %1, %w : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[3, 4]>) -> !sv.tensor<f32[n, 4]>
    %3 = sv.matmul %s, %r : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[n, 4]>
    %4 = sv.add %2, %3 : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    %5 = sv.tanh %4 : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    sv.yield %5 : !sv.tensor<f32[n, 4]>
  }
  return %0 : !sv.tensor<f32[n, 4]>
}

// x has m rows, and m can be less than the trip count t. The product stays in the loop.
func.func @other_count(%x: !sv.tensor<f32[m, n, 3]>, %y: !sv.tensor<f32[t]>,
    %h: !sv.tensor<f32[n, 4]>, %w: !sv.tensor<f32[3, 4]>) -> !sv.tensor<f32[n, 4]> {
  %0 = sv.loop %h {index = "$i", trip_count = #sv.dims<[t]>}
      : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]> {
  ^bb0(%s: !sv.tensor<f32[n, 4]>):
    %i = sv.dims_tensor {dims = #sv.dims<["$i"]>, scalar = true} : () -> !sv.tensor<i64[]>
    %1 = sv.gather %x, %i {axis = 0 : i64}
        : (!sv.tensor<f32[m, n, 3]>, !sv.tensor<i64[]>) -> !sv.tensor<f32[n, 3]>
    %2 = sv.matmul %1, %w : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[3, 4]>) -> !sv.tensor<f32[n, 4]>
    %3 = sv.add %2, %s : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    sv.yield %3 : !sv.tensor<f32[n, 4]>
  }
  return %0 : !sv.tensor<f32[n, 4]>
}

// b depends on a, but a does not depend on b. The loop is split into two loops.
func.func @layers(%t: !sv.tensor<f32[t]>, %a0: !sv.tensor<f32[n, 4]>, %b0: !sv.tensor<f32[n, 4]>,
    %w: !sv.tensor<f32[4, 4]>) -> (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>,
                                   !sv.tensor<f32[t, n, 4]>) {
  %0:3 = sv.loop %a0, %b0 {index = "$i", trip_count = #sv.dims<[t]>}
      : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>)
      -> (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>, !sv.tensor<f32[t, n, 4]>) {
  ^bb0(%a: !sv.tensor<f32[n, 4]>, %b: !sv.tensor<f32[n, 4]>):
    %1 = sv.tanh %a : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    %2 = sv.matmul %1, %w : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[n, 4]>
    %3 = sv.add %2, %b : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    %4 = sv.sub %3, %a : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    sv.yield %1, %4, %3 : !sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>
  }
  return %0#0, %0#1, %0#2
      : !sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>, !sv.tensor<f32[t, n, 4]>
}

// a and b depend on each other. The loop is not split.
func.func @knot(%t: !sv.tensor<f32[t]>, %a0: !sv.tensor<f32[n, 4]>, %b0: !sv.tensor<f32[n, 4]>,
    %w: !sv.tensor<f32[4, 4]>) -> (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) {
  %0:2 = sv.loop %a0, %b0 {index = "$i", trip_count = #sv.dims<[t]>}
      : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>)
      -> (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) {
  ^bb0(%a: !sv.tensor<f32[n, 4]>, %b: !sv.tensor<f32[n, 4]>):
    %1 = sv.add %a, %b : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    %2 = sv.matmul %a, %w : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[n, 4]>
    %3 = sv.neg %w : (!sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[4, 4]>
    %4 = sv.matmul %2, %3 : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[n, 4]>
    sv.yield %1, %4 : !sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>
  }
  return %0#0, %0#1 : !sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>
}
