func.func @main(%x: !sv.tensor<f32[n, 64]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 64]> {sv.name = "y"}) {
  %0 = sv.exp %x : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]> loc("before")
  %1 = sv.neg %0 : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]> loc("there")
  %2 = sv.abs %1 : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]> loc("after")
  return %2 : !sv.tensor<f32[n, 64]>
}
