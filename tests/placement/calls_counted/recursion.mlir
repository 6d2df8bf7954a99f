func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "x"}) -> (!sv.tensor<f32[]> {sv.name = "y"}, !sv.tensor<f32[]> {sv.name = "y2"}) {
  %g = sv.on_device %x {place = "npu", constrain_body = false, constrain_result = true} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %s = sv.tanh %g : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %0 = sv.call @sum(%s) : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[]>
  %1 = sv.call @sum(%x) : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[]>
  return %0, %1 : !sv.tensor<f32[]>, !sv.tensor<f32[]>
}
func.func private @sum(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[]> {
  %length = sv.dims_tensor {dims = #sv.dims<[n]>, scalar = true} : () -> !sv.tensor<i64[]>
  %one = sv.constant {value = dense<1> : tensor<i64>} : !sv.tensor<i64[]>
  %is_one = sv.equal %length, %one : (!sv.tensor<i64[]>, !sv.tensor<i64[]>) -> !sv.tensor<bool[]>
  %0 = sv.if %is_one : (!sv.tensor<bool[]>) -> !sv.tensor<f32[]> {
    %1 = sv.reshape %x {dims = #sv.dims<[]>} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[]>
    sv.yield %1 : !sv.tensor<f32[]>
  } else {
    %1 = sv.slice %x {starts = #sv.dims<[0]>, sizes = #sv.dims<["floordiv(n, 2)"]>, steps = array<i64: 1>}
        : (!sv.tensor<f32[n]>) -> !sv.tensor<f32["floordiv(n, 2)"]>
    %2 = sv.slice %x {starts = #sv.dims<["floordiv(n, 2)"]>, sizes = #sv.dims<["ceildiv(n, 2)"]>, steps = array<i64: 1>}
        : (!sv.tensor<f32[n]>) -> !sv.tensor<f32["ceildiv(n, 2)"]>
    %3 = sv.call @sum(%1) : (!sv.tensor<f32["floordiv(n, 2)"]>) -> !sv.tensor<f32[]>
    %4 = sv.call @sum(%2) : (!sv.tensor<f32["ceildiv(n, 2)"]>) -> !sv.tensor<f32[]>
    %5 = sv.add %3, %4 : (!sv.tensor<f32[]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[]>
    sv.yield %5 : !sv.tensor<f32[]>
  }
  return %0 : !sv.tensor<f32[]>
}
