func.func @main(%x: !sv.tensor<f32[n, 2]> {sv.name = "x"}) -> (!sv.tensor<f32["2*n", 3]> {sv.name = "y"}) {
  %0 = sv.pad %x {mode = "edge", pads = #sv.dims<[n, 1, 0, 0]>} : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32["2*n", 3]>
  return %0 : !sv.tensor<f32["2*n", 3]>
}
