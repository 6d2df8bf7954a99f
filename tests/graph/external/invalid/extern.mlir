sv.extern @f : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {library = "lib"}
