// Ops over 40 channels, which are two and a half blocks, between convolutions.
func.func @main(%x: !sv.tensor<f32[n, 3, 32, 32]>) -> !sv.tensor<f32[n, 64, 32, 32]> {
  %w = sv.constant {value = dense<0.25> : tensor<40x3x3x3xf32>} : !sv.tensor<f32[40, 3, 3, 3]>
  %s = sv.constant {value = dense<[[[0.000]], [[0.125]], [[0.250]], [[0.375]], [[0.500]], [[0.625]], [[0.750]], [[0.875]], [[1.000]], [[1.125]], [[1.250]], [[1.375]], [[1.500]], [[1.625]], [[1.750]], [[1.875]], [[2.000]], [[2.125]], [[2.250]], [[2.375]], [[2.500]], [[2.625]], [[2.750]], [[2.875]], [[3.000]], [[3.125]], [[3.250]], [[3.375]], [[3.500]], [[3.625]], [[3.750]], [[3.875]], [[4.000]], [[4.125]], [[4.250]], [[4.375]], [[4.500]], [[4.625]], [[4.750]], [[4.875]]]> : tensor<40x1x1xf32>} : !sv.tensor<f32[40, 1, 1]>
  %v = sv.constant {value = dense<0.25> : tensor<64x40x3x3xf32>} : !sv.tensor<f32[64, 40, 3, 3]>
  %0 = sv.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 3, 32, 32]>, !sv.tensor<f32[40, 3, 3, 3]>) -> !sv.tensor<f32[n, 40, 32, 32]>
  %y = sv.mul %0, %s : (!sv.tensor<f32[n, 40, 32, 32]>, !sv.tensor<f32[40, 1, 1]>) -> !sv.tensor<f32[n, 40, 32, 32]>
  %1 = sv.softmax %y {axis = 1 : i64} : (!sv.tensor<f32[n, 40, 32, 32]>) -> !sv.tensor<f32[n, 40, 32, 32]>
  %2 = sv.reduce_max %1 {axes = array<i64: 1>} : (!sv.tensor<f32[n, 40, 32, 32]>) -> !sv.tensor<f32[n, 1, 32, 32]>
  %3 = sv.mul %y, %2 : (!sv.tensor<f32[n, 40, 32, 32]>, !sv.tensor<f32[n, 1, 32, 32]>) -> !sv.tensor<f32[n, 40, 32, 32]>
  %4 = sv.softmax %3 {axis = 3 : i64} : (!sv.tensor<f32[n, 40, 32, 32]>) -> !sv.tensor<f32[n, 40, 32, 32]>
  %5 = sv.conv %4, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[n, 40, 32, 32]>, !sv.tensor<f32[64, 40, 3, 3]>) -> !sv.tensor<f32[n, 64, 32, 32]>
  return %5 : !sv.tensor<f32[n, 64, 32, 32]>
}
