// A convolution, a pool and a softmax over images.
func.func @main(%x: !sv.tensor<f32[n, 1, 4, 4]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 2]> {sv.name = "y"}) {
  %w = sv.constant {value = dense<[[[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]],
                                   [[[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]]]> : tensor<2x1x3x3xf32>} : !sv.tensor<f32[2, 1, 3, 3]>
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : (!sv.tensor<f32[n, 1, 4, 4]>, !sv.tensor<f32[2, 1, 3, 3]>) -> !sv.tensor<f32[n, 2, 4, 4]>
  %1 = sv.max_pool %0 {kernel = array<i64: 4, 4>, strides = array<i64: 4, 4>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (!sv.tensor<f32[n, 2, 4, 4]>) -> !sv.tensor<f32[n, 2, 1, 1]>
  %2 = sv.reshape %1 {dims = #sv.dims<[n, 2]>} : (!sv.tensor<f32[n, 2, 1, 1]>) -> !sv.tensor<f32[n, 2]>
  %3 = sv.softmax %2 {axis = 1 : i64} : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
  return %3 : !sv.tensor<f32[n, 2]>
}
