!i = !sv.tensor<i64[]>
!b = !sv.tensor<bool[]>
!f = !sv.tensor<f32[]>
!n = !sv.tensor<f32[n]>
!four = !sv.tensor<f32[4]>
func.func @main(%x: !four, %z: !four, %depth: !i) -> (!four, !f, !f, !f, !four) {
  %two = sv.constant {value = dense<2> : tensor<i64>} : !i
  %0 = sv.call @power(%x, %two) : (!four, !i) -> !four
  %1 = sv.call @sum(%x) : (!four) -> !f
  %2 = sv.call @sum(%z) : (!four) -> !f
  %3 = sv.call @endless(%x) : (!four) -> !f
  %4 = sv.call @power(%x, %depth) : (!four, !i) -> !four
  return %0, %1, %2, %3, %4 : !four, !f, !f, !f, !four
}
// x to the power of 2 to the power of `depth`.
func.func private @power(%x: !n, %depth: !i) -> !n {
  %one = sv.constant {value = dense<1> : tensor<i64>} : !i
  %c = sv.less %depth, %one : (!i, !i) -> !b
  %0 = sv.if %c : (!b) -> !n {
    sv.yield %x : !n
  } else {
    %1 = sv.sub %depth, %one : (!i, !i) -> !i
    %2 = sv.mul %x, %x : (!n, !n) -> !n
    %3 = sv.call @power(%2, %1) : (!n, !i) -> !n
    sv.yield %3 : !n
  }
  return %0 : !n
}
func.func private @sum(%x: !n) -> !f {
  %length = sv.dims_tensor {dims = #sv.dims<[n]>, scalar = true} : () -> !i
  %one = sv.constant {value = dense<1> : tensor<i64>} : !i
  %is_one = sv.equal %length, %one : (!i, !i) -> !b
  %0 = sv.if %is_one : (!b) -> !f {
    %1 = sv.reshape %x {dims = #sv.dims<[]>} : (!n) -> !f
    sv.yield %1 : !f
  } else {
    %1 = sv.slice %x {starts = #sv.dims<[0]>, sizes = #sv.dims<["floordiv(n, 2)"]>, steps = array<i64: 1>}
        : (!n) -> !sv.tensor<f32["floordiv(n, 2)"]>
    %2 = sv.slice %x {starts = #sv.dims<["floordiv(n, 2)"]>, sizes = #sv.dims<["ceildiv(n, 2)"]>, steps = array<i64: 1>}
        : (!n) -> !sv.tensor<f32["ceildiv(n, 2)"]>
    %3 = sv.call @sum(%1) : (!sv.tensor<f32["floordiv(n, 2)"]>) -> !f
    %4 = sv.call @sum(%2) : (!sv.tensor<f32["ceildiv(n, 2)"]>) -> !f
    %5 = sv.add %3, %4 : (!f, !f) -> !f
    sv.yield %5 : !f
  }
  return %0 : !f
}
func.func private @endless(%x: !n) -> !f {
  %0 = sv.call @endless(%x) : (!n) -> !f
  return %0 : !f
}
