func.func @main(%x: !sv.tensor<f32[m, k]> {sv.name = "x"}, %w: !sv.tensor<f32[k, n]> {sv.name = "w"}, %c: !sv.tensor<f32[n]> {sv.name = "c"}, %u: !sv.tensor<f32[k, n]> {sv.name = "u"}, %image: !sv.tensor<f32[b, 3, 8, 8]> {sv.name = "image"}, %filter: !sv.tensor<f32[4, 3, 3, 3]> {sv.name = "filter"}) -> (!sv.tensor<f32[m, n]> {sv.name = "product_y"}, !sv.tensor<f32[m, n]> {sv.name = "dense_y"}, !sv.tensor<f32[b, 4, 6, 6]> {sv.name = "conv_y"}, !sv.tensor<f32[n, k]> {sv.name = "turned_y"}) {
  %0 = sv.matmul %x, %w : (!sv.tensor<f32[m, k]>, !sv.tensor<f32[k, n]>) -> !sv.tensor<f32[m, n]> loc("product")
  %1 = sv.matmul %x, %u : (!sv.tensor<f32[m, k]>, !sv.tensor<f32[k, n]>) -> !sv.tensor<f32[m, n]> loc("dense")
  %2 = sv.add %1, %c : (!sv.tensor<f32[m, n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[m, n]> loc("biased")
  %3 = sv.relu %2 : (!sv.tensor<f32[m, n]>) -> !sv.tensor<f32[m, n]> loc("positive")
  %4 = sv.conv %image, %filter {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[b, 3, 8, 8]>, !sv.tensor<f32[4, 3, 3, 3]>) -> !sv.tensor<f32[b, 4, 6, 6]> loc("conv")
  %5 = sv.transpose %w {permutation = array<i64: 1, 0>} : (!sv.tensor<f32[k, n]>) -> !sv.tensor<f32[n, k]> loc("turned")
  return %0, %3, %4, %5 : !sv.tensor<f32[m, n]>, !sv.tensor<f32[m, n]>, !sv.tensor<f32[b, 4, 6, 6]>, !sv.tensor<f32[n, k]>
}
