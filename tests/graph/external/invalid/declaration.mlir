func.func private @f(!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
