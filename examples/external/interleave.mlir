sv.extern @"example.interleave"
    : (!sv.tensor<f32[n, k]>, !sv.tensor<f32[n, k]>) -> !sv.tensor<f32["2*n", k]>
    {library = "example"}

func.func @main(%x: !sv.tensor<f32[rows, 2]> {sv.name = "x"})
    -> (!sv.tensor<f32["2*rows", 2]> {sv.name = "y"}) {
  %0 = sv.neg %x : (!sv.tensor<f32[rows, 2]>) -> !sv.tensor<f32[rows, 2]>
  %1 = sv.call_extern @"example.interleave"(%x, %0)
      : (!sv.tensor<f32[rows, 2]>, !sv.tensor<f32[rows, 2]>) -> !sv.tensor<f32["2*rows", 2]>
  return %1 : !sv.tensor<f32["2*rows", 2]>
}
