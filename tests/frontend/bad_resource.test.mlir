func.func @main(%x: !sv.tensor<f32[n, 4]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 4]> {sv.name = "y"}) {
  %0 = sv.constant {value = dense_resource<weights> : tensor<4xf32>} : !sv.tensor<f32[4]>
  %1 = sv.add %x, %0 : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[4]>) -> !sv.tensor<f32[n, 4]>
  return %1 : !sv.tensor<f32[n, 4]>
}

{-# dialect_resources: { builtin: { weights: "0x0400000001" } } #-}
