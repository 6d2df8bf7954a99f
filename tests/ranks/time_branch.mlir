// An element of an input selects the branch.
func.func @main(%x: !sv.tensor<f32[n]>, %c: !sv.tensor<bool[]>) -> !sv.tensor<f32[n]> {
  %0 = sv.if %c : (!sv.tensor<bool[]>) -> !sv.tensor<f32[n]> {
    %1 = sv.exp %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %1 : !sv.tensor<f32[n]>
  } else {
    %1 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %1 : !sv.tensor<f32[n]>
  }
  return %0 : !sv.tensor<f32[n]>
}
