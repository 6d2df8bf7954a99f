!t = !sv.tensor<f32[n]>
!f = !sv.closure<(!t) -> !t>
!g = !sv.closure<(!t) -> !sv.tensor<f32[]>>

func.func @main(%x: !t {sv.name = "x"}) -> (!sv.tensor<f32[]> {sv.name = "y"}) {
  %f = sv.closure @flip() : () -> !f
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<[3]>} : (!t) -> !t {
  ^bb0(%s: !t):
    %h = sv.closure @turn() : () -> !f
    %3 = sv.call_closure %h(%s) : (!f, !t) -> !t
    sv.yield %3 : !t
  }
  %1 = sv.call @apply(%f, %0) : (!f, !t) -> !t
  %2 = sv.call @down(%1) : (!t) -> !sv.tensor<f32[]>
  return %2 : !sv.tensor<f32[]>
}
func.func private @apply(%f: !f, %x: !t) -> !t {
  %0 = sv.call_closure %f(%x) : (!f, !t) -> !t
  return %0 : !t
}
func.func private @turn(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  return %0 : !t
}
func.func private @flip(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  return %0 : !t
}
func.func private @down(%x: !t) -> !sv.tensor<f32[]> {
  %length = sv.dims_tensor {dims = #sv.dims<[n]>, scalar = true} : () -> !sv.tensor<i64[]>
  %one = sv.constant {value = dense<1> : tensor<i64>} : !sv.tensor<i64[]>
  %is_one = sv.equal %length, %one : (!sv.tensor<i64[]>, !sv.tensor<i64[]>) -> !sv.tensor<bool[]>
  %0 = sv.if %is_one : (!sv.tensor<bool[]>) -> !sv.tensor<f32[]> {
    %1 = sv.reshape %x {dims = #sv.dims<[]>} : (!t) -> !sv.tensor<f32[]>
    sv.yield %1 : !sv.tensor<f32[]>
  } else {
    %1 = sv.neg %x : (!t) -> !t
    %2 = sv.slice %1 {starts = #sv.dims<[0]>, sizes = #sv.dims<["floordiv(n, 2)"]>, steps = array<i64: 1>}
        : (!t) -> !sv.tensor<f32["floordiv(n, 2)"]>
    %g = sv.closure @down() : () -> !g
    %3 = sv.call_closure %g(%2) : (!g, !sv.tensor<f32["floordiv(n, 2)"]>) -> !sv.tensor<f32[]>
    sv.yield %3 : !sv.tensor<f32[]>
  }
  return %0 : !sv.tensor<f32[]>
}
