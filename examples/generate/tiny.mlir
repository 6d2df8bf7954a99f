// A language model of 16 tokens. The logits of the next token depend on the rows of all tokens, which
// are in the cache.
func.func @main(%ids: !sv.tensor<i64[1, tokens]> {sv.name = "input_ids"}, %past: !sv.tensor<f32[1, past, 4]> {sv.name = "past"}) -> (!sv.tensor<f32[1, 16]> {sv.name = "logits"}, !sv.tensor<f32[1, "past + tokens", 4]> {sv.name = "present"}) {
  %table = sv.constant {value = dense<[[0.25, 0.48, 0.59, 0.88], [0.48, 0.84, -0.94, -0.07], [0.89, 0.30, 0.80, -0.77], [-0.06, -0.51, 0.09, 0.15], [-0.97, -0.57, -0.44, 0.83], [0.53, -0.68, 0.59, -0.72], [0.23, -0.75, -1.00, 0.74], [-0.58, -0.57, 0.96, 0.74], [-0.42, 0.92, 0.08, 0.36], [-0.59, 0.88, 0.38, 0.93], [0.79, -0.40, -0.28, -0.67], [-0.71, -0.87, -0.40, 0.21], [-0.99, 0.36, -0.32, -0.38], [0.64, -0.04, -0.37, -0.04], [0.41, -0.89, 0.95, -0.95], [0.50, 0.69, -0.96, 0.58]]> : tensor<16x4xf32>} : !sv.tensor<f32[16, 4]>
  %weight = sv.constant {value = dense<[[-0.27, 0.16, -0.98, -0.91, -0.64, 0.91, -0.61, 0.51, 0.86, 0.88, -0.31, -0.29, 0.05, 0.55, -0.78, 0.50], [0.59, 0.72, -0.93, 0.89, -0.82, -0.32, 0.22, 0.84, -0.32, 0.85, 0.09, -0.38, -0.37, -0.65, -0.84, -0.70], [0.38, 0.99, -0.68, -0.90, 0.97, 0.07, -0.19, -0.53, 0.19, 0.65, -0.09, -0.16, -0.89, 0.83, -0.93, -0.01], [0.68, -0.74, 0.46, 0.90, 0.26, 0.58, -0.79, -0.13, -0.70, 0.69, -0.41, -0.09, 1.00, 0.70, 0.95, -0.09]]> : tensor<4x16xf32>} : !sv.tensor<f32[4, 16]>

  %x = sv.gather %table, %ids {axis = 0 : i64} : (!sv.tensor<f32[16, 4]>, !sv.tensor<i64[1, tokens]>) -> !sv.tensor<f32[1, tokens, 4]>
  %rows = sv.concat %past, %x {axis = 1} : (!sv.tensor<f32[1, past, 4]>, !sv.tensor<f32[1, tokens, 4]>) -> !sv.tensor<f32[1, "past + tokens", 4]>
  %sum = sv.reduce_sum %rows {axes = array<i64: 1>, keep_dims = false} : (!sv.tensor<f32[1, "past + tokens", 4]>) -> !sv.tensor<f32[1, 4]>
  %logits = sv.matmul %sum, %weight : (!sv.tensor<f32[1, 4]>, !sv.tensor<f32[4, 16]>) -> !sv.tensor<f32[1, 16]>
  return %logits, %rows : !sv.tensor<f32[1, 16]>, !sv.tensor<f32[1, "past + tokens", 4]>
}
