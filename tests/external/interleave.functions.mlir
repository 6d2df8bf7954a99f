sv.extern @"example.Interleave"
    : (!sv.tensor<f32[n, k]>, !sv.tensor<f32[n, k]>) -> !sv.tensor<f32["2*n", k]>
    {library = "example"}
