!t = !sv.tensor<f32[n]>
func.func @main(%x: !t {sv.name = "x"}) -> (!sv.tensor<f32[]> {sv.name = "y"}) {
  %0 = sv.call @sum(%x) : (!t) -> !sv.tensor<f32[]>
  return %0 : !sv.tensor<f32[]>
}
// The largest element of exp(x), plus the result for the first half of x unless x has one element.
func.func private @sum(%x: !t) -> !sv.tensor<f32[]> {
  %length = sv.dims_tensor {dims = #sv.dims<[n]>, scalar = true} : () -> !sv.tensor<i64[]>
  %one = sv.constant {value = dense<1> : tensor<i64>} : !sv.tensor<i64[]>
  %is_one = sv.equal %length, %one : (!sv.tensor<i64[]>, !sv.tensor<i64[]>) -> !sv.tensor<bool[]>
  %before = sv.exp %x : (!t) -> !t loc("before")
  %there = sv.neg %before : (!t) -> !t loc("there")
  %after = sv.abs %there : (!t) -> !t loc("after")
  %largest = sv.reduce_max %after {axes = array<i64: 0>, keep_dims = false} : (!t) -> !sv.tensor<f32[]>
  %0 = sv.if %is_one : (!sv.tensor<bool[]>) -> !sv.tensor<f32[]> {
    sv.yield %largest : !sv.tensor<f32[]>
  } else {
    %half = sv.slice %x {starts = #sv.dims<[0]>, sizes = #sv.dims<["floordiv(n, 2)"]>, steps = array<i64: 1>}
        : (!t) -> !sv.tensor<f32["floordiv(n, 2)"]>
    %rest = sv.call @sum(%half) : (!sv.tensor<f32["floordiv(n, 2)"]>) -> !sv.tensor<f32[]>
    %1 = sv.add %rest, %largest : (!sv.tensor<f32[]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[]>
    sv.yield %1 : !sv.tensor<f32[]>
  }
  return %0 : !sv.tensor<f32[]>
}
