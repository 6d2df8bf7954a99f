sv.extern @f : (!sv.tensor<f32[a]>) -> !sv.tensor<f32[a]> {library = "lib"}

func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "x"}) -> (!sv.tensor<f32[n]> {sv.name = "y"}) {
  %0 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %1 = sv.call_extern @f(%0) : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %1 : !sv.tensor<f32[n]>
}
