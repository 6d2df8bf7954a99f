// Bilinear upsampling as a transposed convolution with one group per channel.
func.func @main(%x: !sv.tensor<f32[n, 21, h, w]>) -> !sv.tensor<f32[n, 21, "2*h", "2*w"]> {
  %w = sv.constant {value = dense<0.25> : tensor<21x1x4x4xf32>} : !sv.tensor<f32[21, 1, 4, 4]>
  %0 = sv.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>, group = 21 : i64} : (!sv.tensor<f32[n, 21, h, w]>, !sv.tensor<f32[21, 1, 4, 4]>) -> !sv.tensor<f32[n, 21, "2*h", "2*w"]>
  return %0 : !sv.tensor<f32[n, 21, "2*h", "2*w"]>
}
