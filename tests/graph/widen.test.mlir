!x = !sv.tensor<f16[n, 4]>
!y = !sv.tensor<f16[n, 8]>
func.func @main(%x: !x {sv.name = "x"}, %past: !sv.tensor<f16[m, 8]> {sv.name = "past"})
    -> (!sv.tensor<f16[n, n]> {sv.name = "product"}, !sv.tensor<f16["m+n", 8]> {sv.name = "rows"},
        !sv.tensor<f32[n, 8]> {sv.name = "rounded"}) {
  %w = sv.constant {value = dense<0.25> : tensor<4x8xf16>} : !sv.tensor<f16[4, 8]>
  %b = sv.constant {value = dense<[0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]> : tensor<8xf16>} : !sv.tensor<f16[8]>
  %0 = sv.matmul %x, %w : (!x, !sv.tensor<f16[4, 8]>) -> !y
  %1 = sv.add %0, %b : (!y, !sv.tensor<f16[8]>) -> !y
  %2 = sv.transpose %1 {permutation = array<i64: 1, 0>} : (!y) -> !sv.tensor<f16[8, n]>
  %3 = sv.exp %2 : (!sv.tensor<f16[8, n]>) -> !sv.tensor<f16[8, n]>
  %4 = sv.matmul %1, %3 : (!y, !sv.tensor<f16[8, n]>) -> !sv.tensor<f16[n, n]>
  %5 = sv.concat %past, %1 {axis = 0 : i64} : (!sv.tensor<f16[m, 8]>, !y) -> !sv.tensor<f16["m+n", 8]>
  %6 = sv.cast %1 {to = "f32"} : (!y) -> !sv.tensor<f32[n, 8]>
  %7 = sv.relu %6 : (!sv.tensor<f32[n, 8]>) -> !sv.tensor<f32[n, 8]>
  return %4, %5, %7 : !sv.tensor<f16[n, n]>, !sv.tensor<f16["m+n", 8]>, !sv.tensor<f32[n, 8]>
}
!c = !sv.tensor<bf16[n, 4]>
// Reads the cache before it concatenates rows to it, and values from outside of the branches.
func.func @cache(%past: !sv.tensor<bf16[m, 4]>, %x: !c, %w: !sv.tensor<bf16[4, 4]>, %b: !sv.tensor<bool[]>)
    -> (!sv.tensor<bf16["m+n", 4]>, !sv.tensor<bf16[m, 4]>, !c) {
  %0 = sv.exp %past : (!sv.tensor<bf16[m, 4]>) -> !sv.tensor<bf16[m, 4]>
  %1 = sv.matmul %x, %w : (!c, !sv.tensor<bf16[4, 4]>) -> !c
  %2 = sv.concat %past, %1 {axis = 0 : i64} : (!sv.tensor<bf16[m, 4]>, !c) -> !sv.tensor<bf16["m+n", 4]>
  %3 = sv.if %b : (!sv.tensor<bool[]>) -> !c {
    %4 = sv.add %1, %x : (!c, !c) -> !c
    sv.yield %4 : !c
  } else {
    sv.yield %x : !c
  }
  return %2, %0, %3 : !sv.tensor<bf16["m+n", 4]>, !sv.tensor<bf16[m, 4]>, !c
}
