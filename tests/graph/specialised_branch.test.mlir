!x = !sv.tensor<f32[q]>
!k = !sv.tensor<f32[k]>
!either = !sv.tensor<f32["max(q,3*k)"]>
func.func @main(%x: !x, %z: !k, %t: !sv.tensor<f32[1]>) -> !either {
  %one = sv.constant {value = dense<1.0> : tensor<1xf32>} : !sv.tensor<f32[1]>
  %more = sv.less %one, %t : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.tensor<bool[1]>
  %c = sv.reshape %more {dims = #sv.dims<[]>} : (!sv.tensor<bool[1]>) -> !sv.tensor<bool[]>
  %y = sv.tile %z {repeats = #sv.dims<[3]>} : (!k) -> !sv.tensor<f32["3*k"]>
  %0 = sv.if %c : (!sv.tensor<bool[]>) -> !either {
    %1 = sv.add %x, %y : (!x, !sv.tensor<f32["3*k"]>) -> !either
    sv.yield %1 : !either
  } else {
    %1 = sv.expand %one {dims = #sv.dims<["max(q,3*k)"]>} : (!sv.tensor<f32[1]>) -> !either
    sv.yield %1 : !either
  }
  return %0 : !either
}
